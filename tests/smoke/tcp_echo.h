// The server of the raw TCP ping-pong, and sockets that speak its protocol by hand.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/clock.h"
#include "src/observe/tcp_echo/tcp_echo.h"

namespace cqbench {

// Maximum time, which only stops hanging tests.
inline constexpr int kPatienceMs = 20'000;
// Less than the 5 s after which connecting fails, and more than a busy machine delays a thread.
inline constexpr Nanos kAtOnce = 4 * kNanosPerSecond;
// A thread that spins gets kSpinningCpu within this time even on a busy machine; one that wakes every 10 ms does not.
inline constexpr Nanos kSpinningWithin = 4 * kNanosPerSecond;
inline constexpr Nanos kSpinningCpu = 50 * kNanosPerMilli;
inline constexpr uint32_t kMagic = 0x63716265;

// A blocking socket that sends each piece of a message at once.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

  bool SendAll(const void* data, size_t bytes) {
    const char* next = static_cast<const char*>(data);
    for (ssize_t sent = 0; bytes > 0; next += sent, bytes -= static_cast<size_t>(sent)) {
      sent = send(fd_, next, bytes, MSG_NOSIGNAL);
      if (sent <= 0) return false;
    }
    return true;
  }
  bool SendBytes(size_t bytes) { return SendAll(std::string(bytes, 'x').data(), bytes); }

  // Returns false if the other side ends first, or takes too long.
  bool ReceiveBytes(size_t bytes) {
    std::vector<char> buffer(64 << 10);
    while (bytes > 0) {
      if (!Readable(kPatienceMs)) return false;
      const ssize_t got = recv(fd_, buffer.data(), std::min(bytes, buffer.size()), 0);
      if (got <= 0) return false;
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

  bool Readable(int timeout_ms) const {
    pollfd waiting{fd_, POLLIN, 0};
    return poll(&waiting, 1, timeout_ms) == 1;
  }
  // Waits for the other side to end the connection without another byte.
  bool IsClosedByPeer() {
    char byte = 0;
    return Readable(kPatienceMs) && recv(fd_, &byte, 1, 0) <= 0;
  }

 private:
  int fd_;
};

using Words = std::array<uint32_t, 4>;

inline Words HelloOf(uint32_t request_bytes, uint32_t response_bytes, uint32_t flags = 0, uint32_t magic = kMagic) {
  return {htonl(magic), htonl(request_bytes), htonl(response_bytes), htonl(flags)};
}

inline Endpoint EndpointOf(const std::string& host, int port) {
  return ResolveTargets({Target{host, port, ""}})->front();
}

inline Socket ConnectTo(const Endpoint& endpoint) {
  Socket client(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(client.fd(), reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.length), 0)
      << std::strerror(errno);
  return client;
}

inline RunWindow& Forever() {
  static RunWindow window;
  window.Set(0, INT64_MAX);
  return window;
}

inline bool Never() {
  return false;
}

inline Nanos CpuTimeOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

class TcpEcho : public testing::Test {
 protected:
  static std::unique_ptr<TcpEchoServer> StartServer() {
    auto server = TcpEchoServer::Start(Target{"127.0.0.1", 0, ""});
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }

  Endpoint endpoint() const { return EndpointOf("127.0.0.1", server_->port()); }
  Socket Connect() const { return ConnectTo(endpoint()); }
  Socket ConnectWith(const Words& hello) const {
    Socket client = Connect();
    EXPECT_TRUE(client.SendAll(hello.data(), sizeof(hello)));
    return client;
  }
  static void ExpectEcho(Socket& client, size_t request_bytes, size_t response_bytes) {
    ASSERT_TRUE(client.SendBytes(request_bytes));
    ASSERT_TRUE(client.ReceiveBytes(response_bytes));
  }

  std::unique_ptr<TcpEchoServer> server_ = StartServer();
};

}  // namespace cqbench
