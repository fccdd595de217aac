// How long the server itself takes for a sample of the calls. Off unless a client asks for it (--breakdown).
#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/clock.h"
#include "src/stats/histogram.h"
#include "src/workload/messages/serializer_times.h"

namespace cqbench {

// Thread-safe. While it is off a call pays one relaxed load of a line that nobody writes. A call that is timed goes
// Accepted() → Handled() → Finished(), each given what the one before returned; 0 means that this call is not timed.
class ServiceTimes {
 public:
  static constexpr uint32_t kEvery = 16;  // calls, by the count that the caller keeps

  void Switch(bool on) {
    if (on) {  // also when it was on: whoever asked for that may have died
      handling_.Clear();
      finishing_.Clear();
    }
    serializer_.Switch(on);
    on_.store(on, std::memory_order_relaxed);
  }
  bool on() const { return on_.load(std::memory_order_relaxed); }

  // First thing when a request has come.
  Nanos Accepted(uint32_t& calls) const {
    if (!on()) [[likely]]
      return 0;
    return calls++ % kEvery == 0 ? NowNs() : 0;
  }
  // Before the response is handed to the library: afterwards another thread may already see its end.
  Nanos Handled(Nanos accepted) {
    if (accepted == 0) [[likely]]
      return 0;
    const Nanos now = NowNs();
    handling_.Record(now - accepted);
    return now;
  }
  // When the library says that the response is sent.
  void Finished(Nanos handled) {
    if (handled != 0) [[unlikely]]
      finishing_.Record(NowNs() - handled);
  }

  // Times of the messages of calls that are timed.
  SerializerTimes& serializer() { return serializer_; }

  const SharedHistogram& handling() const { return handling_; }
  const SharedHistogram& finishing() const { return finishing_; }

 private:
  alignas(64) std::atomic<bool> on_{false};
  alignas(64) SharedHistogram handling_;
  SharedHistogram finishing_;
  SerializerTimes serializer_;
};

}  // namespace cqbench
