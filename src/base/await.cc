#include "src/base/await.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace cqbench {

bool AwaitEvents(int fd, short events, Nanos give_up_at) {
  for (;;) {
    const Nanos left = std::max<Nanos>(give_up_at - NowNs(), 0);
    const timespec timeout{left / kNanosPerSecond, static_cast<long>(left % kNanosPerSecond)};
    pollfd waiting{fd, events, 0};
    const int ready = ppoll(&waiting, 1, &timeout, nullptr);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

int AwaitConnected(int fd, Nanos give_up_at) {
  if (!AwaitEvents(fd, POLLOUT, give_up_at)) return EINPROGRESS;
  int error = 0;
  socklen_t length = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

}  // namespace cqbench
