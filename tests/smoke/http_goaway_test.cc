// The HTTP/2 client with a server that sometimes ends a connection with GOAWAY: the server responds to the calls that
// it accepted, and the client continues on another connection.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/smoke/harness.h"
#include "tests/unit/http2_bytes.h"

namespace cqbench::smoke {
namespace {

constexpr uint8_t kGoAway = 7;
constexpr size_t kInFlight = 4;

// Responds with status 200. After kAnswered calls, a connection gets no response until kInFlight calls wait. Then the
// server sends a GOAWAY, which excludes the last `refuses` of the calls, and afterwards responds to the others.
class HastyServer {
 public:
  explicit HastyServer(size_t refuses) : refuses_(refuses), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, any, length), 0);
    EXPECT_EQ(getsockname(listener_, any, &length), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    acceptor_ = std::thread([this] { Accept(); });
  }
  HastyServer(const HastyServer&) = delete;
  HastyServer& operator=(const HastyServer&) = delete;
  ~HastyServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
    for (std::thread& thread : threads_) thread.join();
    for (const int fd : sockets_) close(fd);
    close(listener_);
  }
  const std::string& address() const { return address_; }
  size_t said_goodbye() const { return said_goodbye_; }

 private:
  static constexpr size_t kAnswered = 20;

  void Accept() {
    for (int fd = accept(listener_, nullptr, nullptr); fd >= 0; fd = accept(listener_, nullptr, nullptr)) {
      sockets_.push_back(fd);
      threads_.emplace_back([this, fd] { Serve(fd); });
    }
  }

  void Serve(int fd) {
    std::string came;
    const timeval quiet{0, 200'000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof(quiet));
    Send(fd, Frame(kSettings, 0, 0));
    size_t begun = 0;
    std::vector<uint32_t> waiting;
    bool preface = true;
    std::array<char, 4096> buffer;
    for (ssize_t n; (n = recv(fd, buffer.data(), buffer.size(), 0)) != 0;) {
      if (n < 0 && errno != EAGAIN) return;
      if (n < 0) {  // the client ends its run, or a call backs off
        for (const uint32_t stream : std::exchange(waiting, {})) Answer(fd, stream);
        continue;
      }
      came.append(buffer.data(), static_cast<size_t>(n));
      if (preface && came.size() < kPreface.size()) continue;
      if (std::exchange(preface, false)) came.erase(0, kPreface.size());
      while (came.size() >= 9 && came.size() >= 9 + NumberAt(came, 0, 3)) {
        const uint32_t stream = NumberAt(came, 5, 4);
        const bool call = came[3] == kHeaders;
        came.erase(0, 9 + NumberAt(came, 0, 3));
        if (!call) continue;
        if (++begun <= kAnswered) {
          Answer(fd, stream);
        } else if (waiting.push_back(stream); waiting.size() == kInFlight) {
          waiting.resize(kInFlight - refuses_);
          ++said_goodbye_;
          Send(fd, Frame(kGoAway, 0, 0, Number(waiting.back()) + Number(0)));
          for (const uint32_t taken : std::exchange(waiting, {})) Answer(fd, taken);
        }
      }
    }
  }
  static uint32_t NumberAt(const std::string& bytes, size_t at, size_t size) {
    uint32_t number = 0;
    for (size_t i = at; i < at + size; ++i) number = number << 8 | static_cast<uint8_t>(bytes[i]);
    return number;
  }
  static void Answer(int fd, uint32_t stream) { Send(fd, Frame(kHeaders, kEndHeaders | kEndStream, stream, "\x88")); }
  static void Send(int fd, const std::string& bytes) { (void)!send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  const size_t refuses_;
  const int listener_;
  std::string address_;
  std::atomic<size_t> said_goodbye_{0};
  std::vector<int> sockets_;  // only the acceptor uses them until it has ended
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

Json MeasuredAgainst(const HastyServer& server) {
  const ClientRun run = RunClient({"--host", server.address(), "--api", "http2", "--http-request", "GET /",
                                   "--inflight", std::to_string(kInFlight), "--warmup", "0s", "--total", "500",
                                   "--interval", "60", "--deadline", "15", "--no-evidence", "--format", "json"});
  const Json point = run.Point();
  ExpectIdentities(point);
  EXPECT_GE(point.at("calls_ok"), 500) << run.err;
  return point;
}

TEST(HttpGoAwayTest, CallsThatTheServerHasTakenDoNotFail) {
  const HastyServer server(/*refuses=*/0);
  const Json point = MeasuredAgainst(server);
  EXPECT_EQ(point.at("failed"), 0) << point.at("errors");
  EXPECT_GT(server.said_goodbye(), 5u);
}

TEST(HttpGoAwayTest, CallsThatItHasNotTakenAreRefused) {
  const HastyServer server(/*refuses=*/1);
  const Json point = MeasuredAgainst(server);
  EXPECT_GT(point.at("failed"), 5);
  EXPECT_LE(point.at("failed"), server.said_goodbye());
  EXPECT_EQ(CountOf(point, "UNAVAILABLE"), point.at("failed"));
  EXPECT_NE(point.at("errors").dump().find("the server refused the call"), std::string::npos) << point.at("errors");
}

}  // namespace
}  // namespace cqbench::smoke
