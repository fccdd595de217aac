// Runs the project's two programs for tests: a server on a free port, a client until it exits.
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

// Maximum time for anything that should end at once: it stops hanging tests and does not check speed.
inline constexpr Seconds kPatience{kSanitized ? 120 : 30};
// Extra time that a test allows for what should end at once. Only a defect takes as long: it would wait for 20 s or
// more.
inline constexpr Seconds kGrace{kSanitized ? 30 : 15};

using Flags = std::vector<std::string>;
using Json = nlohmann::json;

Flags operator+(Flags a, const Flags& b);

// Command prefixes that keep server and client on different CPUs: the first CPU of this process, and all others. Both
// are empty if there is only one CPU.
Flags OnServerCpus();
Flags OnClientCpus();

// --- server ---

// The counts in the last line that a server prints.
struct Served {
  uint64_t calls = 0;
  uint64_t ok = 0;
  uint64_t failed = 0;
  uint64_t messages = 0;
};

class Server {
 public:
  // Starts a server, with --port 0 unless the flags name an address. Returns when the server accepts calls; throws
  // std::runtime_error with the server's output if it fails. `launcher`: see OnServerCpus().
  explicit Server(const Flags& flags = {}, const Flags& launcher = {});

  // Returns an address for --host: "localhost:40123".
  const std::string& address() const { return address_; }
  std::string port() const { return address_.substr(address_.rfind(':') + 1); }
  Process& process() { return process_; }

  // Sends the signal; expects exit status 0 and the line with the counts. Reports failures to GoogleTest.
  Served Stop(int signal);

 private:
  Process process_;
  std::string address_;
};

// Returns the server of that API that all tests of this program share. It starts at the first use and is killed at the
// end.
Server& SharedServer(const std::string& api);

// Opens a connection from the test itself to the address.
std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address);

// --- client ---

struct ClientRun {
  std::optional<int> exit_code;  // absent: the test had to kill the client
  std::string out;
  std::string err;
  Seconds took{};

  // Returns the output of --format json; null (and a failed test) if it is not JSON.
  Json Parsed() const;
  // Returns the points of the output; points without calls come last.
  Json Points() const;
  // Returns the only point; null (and a failed test) if there is not exactly one.
  Json Point() const;
  // Returns the only point of a run that ended well: exit status 0, and ExpectClean() holds.
  Json CleanPoint() const;
};

std::vector<std::string> ClientCommand(const Flags& flags);
// Runs the client until it exits. The timeout only stops hanging tests.
ClientRun RunClient(const Flags& flags, const Process::Options& options = {}, Seconds timeout = 2 * kPatience);
// Measures a short closed-loop point of that server, as JSON: Short() and `more`.
ClientRun RunShortly(const Server& server, const Flags& more = {});
// Waits for the end of a client that the test started.
ClientRun Finish(Process& client, Seconds timeout = 2 * kPatience);
// Interrupts the client with SIGINT; it must exit at once with status 130.
ClientRun Interrupt(Process& client);
// Waits until the client measures that point of the sweep and has had responses. Needs Options::error_is_terminal.
bool WaitUntilMeasuring(Process& client, int point = 1);
// Waits until one of the client's calls has failed, within the window. Needs Options::error_is_terminal.
bool WaitUntilFailed(Process& client);
// Flags of a closed-loop point that ends after a number of calls, so that a busy machine makes enough calls, too.
Flags Short();
// Flags of a point that ends after a short time, whatever the number of calls. The window is long enough for the
// server's samples, which must be about as far apart as the window is long.
Flags ShortInterval();

// Expects a point without any fault: calls completed, no errors, no warnings, percentiles in order.
void ExpectClean(const Json& point);
// Expects due = sent + dropped + unsent, and sent = ok + failed + unfinished, exactly.
void ExpectIdentities(const Json& point);
// Splits a text into lines, without their ends.
std::vector<std::string> Lines(const std::string& text);
// Expects one line of text that contains each of the parts.
void ExpectOneLine(const std::string& text, const std::vector<std::string>& parts);
// Returns the count of that code in the errors[] of a point; 0 if the code is absent.
uint64_t CountOf(const Json& point, const std::string& code);

}  // namespace cqbench::smoke
