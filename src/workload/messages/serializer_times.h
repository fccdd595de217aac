// How long a sample of messages took from object to bytes and back (--breakdown).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "src/base/clock.h"
#include "src/stats/histogram.h"

namespace cqbench {

// Thread-safe. Times are without what reading the clock takes, which is about what it takes to write a small message.
class SerializerTimes {
 public:
  static constexpr uint32_t kEvery = 16;  // messages, by the count that the caller keeps

  // Times of the messages that this process sends and receives as a client.
  static SerializerTimes& OfClient() {
    static SerializerTimes times;
    return times;
  }

  void Switch(bool on) {
    if (on) {
      clock_ns_.store(CostOfClock(), std::memory_order_relaxed);
      serialize_.Clear();
      parse_.Clear();
    }
    on_.store(on, std::memory_order_relaxed);
  }
  bool on() const { return on_.load(std::memory_order_relaxed); }

  // While it is on; runs `work` and returns what that returns.
  template <typename Work>
  auto Serializing(Work work) {
    return Timed(serialize_, work);
  }
  template <typename Work>
  auto Parsing(Work work) {
    return Timed(parse_, work);
  }

  const SharedHistogram& serialize() const { return serialize_; }
  const SharedHistogram& parse() const { return parse_; }

 private:
  template <typename Work>
  auto Timed(SharedHistogram& into, Work& work) {
    const Nanos begin = NowNs();
    auto result = work();
    into.Record(std::max<Nanos>(NowNs() - begin - clock_ns_.load(std::memory_order_relaxed), 0));
    return result;
  }
  // The least of some: what else happens meanwhile only makes it longer.
  static Nanos CostOfClock() {
    constexpr int kTimes = 1000;
    Nanos least = kNanosPerSecond;
    for (int batch = 0; batch < 5; ++batch) {
      const Nanos begin = NowNs();
      Nanos last = begin;
      for (int i = 0; i < kTimes; ++i) last = NowNs();
      least = std::min(least, (last - begin) / kTimes);
    }
    return least;
  }

  alignas(64) std::atomic<bool> on_{false};
  std::atomic<Nanos> clock_ns_{0};
  alignas(64) SharedHistogram serialize_;
  SharedHistogram parse_;
};

}  // namespace cqbench
