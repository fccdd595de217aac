// How much CPU the control service may take from what is measured.
#pragma once

#include <time.h>

#include <algorithm>
#include <mutex>

#include "src/base/clock.h"

namespace cqbench {

// A leaky bucket of CPU time. One sample costs 5 µs for each connection of the server. Clients that measure take two in
// a window, 64 of them at once at most: that fits. 2,000 connections that each ask for one kept the two threads of a
// callback server busy for 24 s. Thread-safe.
class SampleBudget {
 public:
  static constexpr Nanos kBurst = 2 * kNanosPerSecond;
  static constexpr int kShare = 4;  // the bucket leaks a quarter of one CPU

  // False: too much has been spent; ask again later.
  bool Allows(Nanos now) {
    const std::lock_guard lock(mutex_);
    spent_ = std::max<Nanos>(0, spent_ - (now - at_) / kShare);
    at_ = now;
    return spent_ < kBurst;
  }
  void Spend(Nanos cpu) {
    const std::lock_guard lock(mutex_);
    spent_ += cpu;
  }

 private:
  std::mutex mutex_;
  Nanos spent_ = 0;  // guarded by mutex_
  Nanos at_ = 0;     // guarded by mutex_
};

// Spends the CPU time that the calling thread uses while this lives.
class SampleCost {
 public:
  explicit SampleCost(SampleBudget& budget) : budget_(budget) {}
  SampleCost(const SampleCost&) = delete;
  SampleCost& operator=(const SampleCost&) = delete;
  ~SampleCost() { budget_.Spend(ThreadCpu() - begin_); }

 private:
  static Nanos ThreadCpu() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * kNanosPerSecond + time.tv_nsec;
  }
  SampleBudget& budget_;
  const Nanos begin_ = ThreadCpu();
};

}  // namespace cqbench
