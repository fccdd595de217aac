#include "src/base/interrupt.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <ctime>

namespace cqbench {
namespace {

// A terminal that goes away says so with SIGHUP; under nohup that is to be ignored.
sigset_t StopSignals() {
  static const bool ignores_hangup = [] {
    struct sigaction action {};
    return sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (!ignores_hangup) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = StopSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A reader that goes away, and a limit on the size of files, are errors of the write that meets them.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool Interrupt::SleepUntil(Nanos deadline) {
  const sigset_t set = StopSignals();
  while (signal_ == 0) {
    const Nanos left = std::max<Nanos>(deadline - NowNs(), 0);
    const timespec timeout{left / kNanosPerSecond, static_cast<long>(left % kNanosPerSecond)};
    const int got = sigtimedwait(&set, nullptr, &timeout);
    if (got > 0) signal_ = got;
    if (left == 0) break;
  }
  return signal_ != 0;
}

void Interrupt::Wait() {
  while (!SleepUntil(NowNs() + 3600 * kNanosPerSecond)) {
  }
}

}  // namespace cqbench
