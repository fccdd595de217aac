// The project's two programs as tests use them: a server on a free port, a client run to its end.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/smoke/process.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace cqbench::smoke {

// How long anything may take that should be over at once: a bound for hangs, not a statement about speed.
inline constexpr Seconds kPatience{kSanitized ? 120 : 30};
// What a shared machine may add to a time that a test does check.
inline constexpr Seconds kGrace{kSanitized ? 30 : 5};

using Flags = std::vector<std::string>;
using Json = nlohmann::json;

Flags operator+(Flags a, const Flags& b);

// What a command line begins with so that server and client do not take each other's time: the first of this process's
// CPUs, and all others. Empty when there is only one.
Flags OnServerCpus();
Flags OnClientCpus();

// --- server ---

// What the server says of its life in its last line.
struct Served {
  uint64_t calls = 0;
  uint64_t ok = 0;
  uint64_t failed = 0;
  uint64_t messages = 0;
};

class Server {
 public:
  // With --port 0 unless the flags say where to listen. Returns when calls are accepted; throws std::runtime_error with
  // what the server said when it does not come that far. `launcher`: see OnServerCpus().
  explicit Server(const Flags& flags = {}, const Flags& launcher = {});

  // What --host takes: "localhost:40123".
  const std::string& address() const { return address_; }
  std::string port() const { return address_.substr(address_.rfind(':') + 1); }
  Process& process() { return process_; }

  // Sends the signal; expects exit status 0 and the line with the counts. Failures are reported to GoogleTest.
  Served Stop(int signal);

 private:
  Process process_;
  std::string address_;
};

// The server of that API that all tests of this program share; started at the first use, killed at the end.
Server& SharedServer(const std::string& api);

// A connection of the test's own, straight to the address.
std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address);

// --- client ---

struct ClientRun {
  std::optional<int> exit_code;  // absent: it had to be killed
  std::string out;
  std::string err;
  Seconds took{};

  // The output of --format json; null (and a failed test) when it is not JSON.
  Json Parsed() const;
  // The points of the output, those that measured nothing last.
  Json Points() const;
  // The only point; null (and a failed test) when there is not exactly one.
  Json Point() const;
  // The same of a run that ended well: exit status 0, and the point as ExpectClean() says.
  Json CleanPoint() const;
};

std::vector<std::string> ClientCommand(const Flags& flags);
// Runs the client to its end. The timeout is a bound for hangs.
ClientRun RunClient(const Flags& flags, const Process::Options& options = {}, Seconds timeout = 2 * kPatience);
// A closed-loop point of that server that is over soon, as JSON: Short() and `more`.
ClientRun RunShortly(const Server& server, const Flags& more = {});
// Waits for the end of a client that was started by the test.
ClientRun Finish(Process& client, Seconds timeout = 2 * kPatience);
// The same of a client that ends by SIGINT, at once and with status 130.
ClientRun Interrupt(Process& client);
// Waits until that point of the sweep is being measured and has had answers. Needs Options::error_is_terminal.
bool WaitUntilMeasuring(Process& client, int point = 1);
// Flags of a closed-loop point that is over when there is enough to tell of, however busy the machine is.
Flags Short();
// Of any point that is over soon, with as many calls as happen to be done; long enough for the server's samples, which
// must be about as far apart as the window is long.
Flags ShortInterval();

// A measured point without any fault: calls completed, no errors, no warnings, percentiles in order.
void ExpectClean(const Json& point);
// due = sent + dropped + unsent, and sent = ok + failed + unfinished, exactly.
void ExpectIdentities(const Json& point);
// Lines of a text, without their ends.
std::vector<std::string> Lines(const std::string& text);
// The text is one line and contains each of the parts.
void ExpectOneLine(const std::string& text, const std::vector<std::string>& parts);
// Of the errors[] of a point; 0 when there is none of that code.
uint64_t CountOf(const Json& point, const std::string& code);

}  // namespace cqbench::smoke
