#include "tests/smoke/sockets.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

[[noreturn]] void Throw(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

BoundSocket::BoundSocket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (fd_ < 0 || bind(fd_, raw, length) != 0 || getsockname(fd_, raw, &length) != 0) Throw("bind");
  port_ = ntohs(address.sin_port);
}

BoundSocket::~BoundSocket() {
  close(fd_);
}

void BoundSocket::Listen() {
  if (listen(fd_, 16) != 0) Throw("listen");
}

bool BoundSocket::WaitForConnection() {
  pollfd waiting{fd_, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(kPatience.count() * 1000)) == 1;
}

bool BoundSocket::IPv6Works() {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool works = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return works;
}

TemporaryDirectory::TemporaryDirectory() {
  path_ = (std::filesystem::temp_directory_path() / "cqbench-smoke-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) Throw("mkdtemp");
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace cqbench::smoke
