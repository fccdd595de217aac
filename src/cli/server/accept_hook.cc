// accept4() for the library: when there are no descriptors left, those who wait are turned away, and the next may come
// once there are some again.
//
// gRPC 1.51.1 takes any error but "nobody waits" for the end of its listening socket: after one EMFILE the server never
// accepts again, though it lives and has descriptors. Programs may define functions of the C library: the library's
// calls come here. Every listener of the server is non-blocking.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>

namespace {

// One descriptor that is given up to take a connection just to close it. The client sees that, instead of waiting.
// One thread at a time accepts, and only while the spare is there, so that no connection takes its place. A file that
// is opened in that moment may take it; such files are soon closed again.
class Spare {
 public:
  int Accept(int listening, sockaddr* address, socklen_t* length, int flags) {
    const std::lock_guard lock(mutex_);
    for (int tries = 0; tries < kTries;) {
      if (!Open()) {
        ++tries;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      const auto fd = static_cast<int>(syscall(SYS_accept4, listening, address, length, flags));
      if (fd >= 0 || !NoneLeft()) return fd;
      if (!TurnOneAway(listening) && !NoneLeft()) return -1;
    }
    errno = EAGAIN;
    return -1;
  }

 private:
  static constexpr int kTries = 100;

  static bool NoneLeft() { return errno == EMFILE || errno == ENFILE; }
  bool Open() {
    if (fd_ < 0) fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fd_ >= 0;
  }
  bool TurnOneAway(int listening) {
    close(fd_);
    fd_ = -1;
    const auto unwanted = static_cast<int>(syscall(SYS_accept4, listening, nullptr, nullptr, SOCK_CLOEXEC));
    if (unwanted >= 0) close(unwanted);
    return unwanted >= 0;
  }

  std::mutex mutex_;
  int fd_ = -1;
};
Spare spare;

}  // namespace

extern "C" int accept4(int listening, sockaddr* address, socklen_t* length, int flags) {
  return spare.Accept(listening, address, length, flags);
}
