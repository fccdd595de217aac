// HTTP clients for tests: plain sockets, and programs such as curl.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "tests/smoke/process.h"

namespace cqbench::smoke {

// Maximum times, which only stop hanging tests.
inline constexpr Seconds kHttpPatience{60};

// In the in-process transport one thread reads what another wrote. Only locks of gRPC order these accesses, and gRPC is
// not instrumented, so ThreadSanitizer reports a race for each message.
#if defined(ABSL_HAVE_THREAD_SANITIZER)
inline constexpr bool kInProcessLooksRacy = true;
#else
inline constexpr bool kInProcessLooksRacy = false;
#endif

// The result of a tool from the PATH that has exited.
struct Ran {
  std::optional<int> status;
  std::string out;
  std::string err;
};

inline Ran RunTool(std::vector<std::string> command) {
  command.insert(command.begin(), "/usr/bin/env");
  Process process(command);
  Ran run;
  run.status = process.Wait(kHttpPatience);
  run.out = process.out();
  run.err = process.err();
  return run;
}

class HttpSocket {
 public:
  // With a small receive buffer the server soon notices a client that stops reading. 0: the system's size.
  explicit HttpSocket(const std::string& port, int receive_bytes = 0)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(port)));
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  HttpSocket(HttpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~HttpSocket() {
    if (fd_ >= 0) close(fd_);
  }

  // Sends as much as the server takes within the time; false if it did not take all.
  bool Send(std::string_view bytes, Seconds timeout = kHttpPatience) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!bytes.empty()) {
      pollfd waiting{fd_, POLLOUT, 0};
      if (std::chrono::steady_clock::now() > deadline) return false;
      if (poll(&waiting, 1, 10) != 1) continue;
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  void EndSending() { shutdown(fd_, SHUT_WR); }

  // Reads until `text` has come, or the connection has ended.
  std::string ReadUntil(std::string_view text) {
    return Read([text](const std::string& all) { return all.find(text) != std::string::npos; });
  }
  bool Readable(Seconds timeout) const {
    pollfd waiting{fd_, POLLIN, 0};
    return poll(&waiting, 1, static_cast<int>(timeout.count() * 1000)) == 1;
  }
  // True once the server has ended the connection.
  bool Ended() const {
    pollfd waiting{fd_, POLLRDHUP, 0};
    return poll(&waiting, 1, 0) == 1;
  }
  // Appends at least one received byte; false at the end of the connection.
  bool ReadSome(std::string& into) {
    std::array<char, 65536> buffer;
    const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
    if (n > 0) into.append(buffer.data(), static_cast<size_t>(n));
    return n > 0;
  }
  // Reads and discards data as fast as it can.
  template <class Predicate>
  void ReadWhile(const Predicate& goes_on) {
    std::array<char, 65536> buffer;
    while (goes_on() && recv(fd_, buffer.data(), buffer.size(), 0) > 0) {
    }
  }
  // Reads until the server ends the connection; `ended` is false if the time was over first.
  std::string ReadAll(bool* ended) {
    ended_ = false;
    const std::string all = Read([](const std::string&) { return false; });
    *ended = ended_;
    return all;
  }

 private:
  template <class Enough>
  std::string Read(const Enough& enough) {
    std::string all;
    std::array<char, 65536> buffer;
    while (!enough(all)) {
      if (!Readable(kHttpPatience)) break;
      const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
      ended_ = n <= 0;
      if (ended_) break;
      all.append(buffer.data(), static_cast<size_t>(n));
    }
    return all;
  }
  int fd_;
  bool ended_ = false;
};

}  // namespace cqbench::smoke
