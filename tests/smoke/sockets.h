// Small things of the operating system that tests need beside processes.
#pragma once

#include <cstdint>
#include <string>

namespace cqbench::smoke {

// A TCP socket bound to a free port of 127.0.0.1. Until Listen() connections to it are refused, and nobody else gets
// the port meanwhile.
class BoundSocket {
 public:
  BoundSocket();
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;
  ~BoundSocket();

  uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Connections are established from now on, and nobody ever says anything on them.
  void Listen();
  // Waits until somebody has connected; false when nobody does for long.
  bool WaitForConnection();

  static bool IPv6Works();

 private:
  int fd_;
  uint16_t port_ = 0;
};

// Removed with everything in it.
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
