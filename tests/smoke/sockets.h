// Sockets and folders for tests.
#pragma once

#include <cstdint>
#include <string>

namespace cqbench::smoke {

// A TCP socket bound to a free port of 127.0.0.1, so no other process can get the port. Connections are refused until
// Listen().
class BoundSocket {
 public:
  BoundSocket();
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;
  ~BoundSocket();

  uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Connections succeed from now on, but no data is ever sent.
  void Listen();
  // Waits until a client has connected; false after a long wait.
  bool WaitForConnection();

  static bool IPv6Works();

 private:
  int fd_;
  uint16_t port_ = 0;
};

// The destructor removes the folder with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace cqbench::smoke
