// accept4() for the library: when there are no descriptors left, those who wait are turned away, and the next may come
// once there are some again.
//
// gRPC 1.51.1 takes any error but "nobody waits" for the end of its listening socket: after one EMFILE the server never
// accepts again, though it lives and has descriptors. Programs may define functions of the C library: the library's
// calls come here.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

namespace {

int OpenSpare() {
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

// One descriptor that is given up to take a connection just to close it. The client sees that, instead of waiting.
class Spare {
 public:
  bool TurnOneAway(int listening) {
    const std::lock_guard lock(mutex_);
    if (fd_ >= 0) close(fd_);
    const int unwanted = static_cast<int>(syscall(SYS_accept4, listening, nullptr, nullptr, SOCK_CLOEXEC));
    if (unwanted >= 0) close(unwanted);
    fd_ = OpenSpare();
    return unwanted >= 0;
  }

 private:
  std::mutex mutex_;
  int fd_ = OpenSpare();
};
Spare spare;

}  // namespace

extern "C" int accept4(int listening, sockaddr* address, socklen_t* length, int flags) {
  for (;;) {
    const auto fd = static_cast<int>(syscall(SYS_accept4, listening, address, length, flags));
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE)) return fd;
    if (!spare.TurnOneAway(listening)) {
      errno = EAGAIN;  // nobody is left
      return -1;
    }
  }
}
