// Owned descriptors, and what epoll watches them for.
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace cqbench {

// Move-only; closes what it holds. Negative: nothing.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { Close(); }

  int fd() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // The caller's from now on.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// `operation` is EPOLL_CTL_ADD or EPOLL_CTL_MOD; `tag` comes back with the events.
inline bool Watch(int epoll_fd, int operation, int fd, uint32_t events, uint32_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u32 = tag;
  return epoll_ctl(epoll_fd, operation, fd, &event) == 0;
}

}  // namespace cqbench
