#include "cqbench/interrupt.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <ctime>

namespace cqbench {
namespace {

sigset_t StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = StopSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
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
