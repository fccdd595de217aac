// Both ends of a TCP connection over the loopback interface.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace cqbench {

// One thread. The destructor closes the sockets. TCP_NODELAY is set on both.
class TcpPair {
 public:
  TcpPair() {
    const int listener = NewSocket();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener, generic, length), 0) << std::strerror(errno);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, generic, &length), 0);
    fds_[0] = NewSocket();
    EXPECT_EQ(connect(fds_[0], generic, length), 0) << std::strerror(errno);
    fds_[1] = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    close(listener);
    EXPECT_EQ(getsockname(fds_[0], generic, &length), 0);
    client_port_ = ntohs(address.sin_port);
    const int on = 1;
    for (int fd : fds_) EXPECT_EQ(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
  }
  TcpPair(const TcpPair&) = delete;
  TcpPair& operator=(const TcpPair&) = delete;
  ~TcpPair() {
    for (size_t end : {0u, 1u}) Close(end);
  }

  // [0] is the end that connected, [1] the end that accepted.
  int operator[](size_t end) const { return fds_[end]; }
  int client_port() const { return client_port_; }
  void Close(size_t end) {
    close(fds_[end]);
    fds_[end] = -1;
  }

  // Sends `request` bytes one way and `response` bytes back. The loopback interface delivers in the sender's system
  // call, so the bytes are readable at once.
  void PingPong(int times, size_t request, size_t response) const {
    for (int i = 0; i < times; ++i) {
      Move(fds_[0], fds_[1], request);
      Move(fds_[1], fds_[0], response);
    }
  }

 private:
  static int NewSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
  static void Move(int from, int to, size_t bytes) {
    std::string buffer(bytes, 'x');
    ASSERT_EQ(write(from, buffer.data(), bytes), static_cast<ssize_t>(bytes));
    ASSERT_EQ(recv(to, buffer.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
  }

  int fds_[2] = {-1, -1};
  int client_port_ = 0;
};

}  // namespace cqbench
