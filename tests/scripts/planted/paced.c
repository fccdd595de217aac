/* Loaded before all other libraries (LD_PRELOAD), this limits how fast the kernel sends the bytes of each TCP connection
   that a program opens, by SO_MAX_PACING_RATE: PLANTED_BYTES_PER_SECOND. TCP paces by itself where there is no fq. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>

int connect(int fd, const struct sockaddr* to, socklen_t length) {
  static int (*next)(int, const struct sockaddr*, socklen_t);
  if (!next) next = (int (*)(int, const struct sockaddr*, socklen_t))dlsym(RTLD_NEXT, "connect");
  const char* rate = getenv("PLANTED_BYTES_PER_SECOND");
  if (rate && (to->sa_family == AF_INET || to->sa_family == AF_INET6)) {
    const unsigned long value = strtoul(rate, NULL, 10);
    if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &value, sizeof value) != 0) abort();
  }
  return next(fd, to, length);
}
