// What a worker keeps of the calls it made.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "cqbench/clock.h"
#include "cqbench/histogram.h"

namespace cqbench {

// The measured window [open, close) of one point. The runner sets both ends before the workers start; it moves `close`
// forward when the run is interrupted. Workers only read, so the line stays shared in every cache.
class RunWindow {
 public:
  void Set(Nanos open_ns, Nanos close_ns) {
    open_ns_.store(open_ns, std::memory_order_relaxed);
    close_ns_.store(close_ns, std::memory_order_relaxed);
  }
  void CloseAt(Nanos close_ns) { close_ns_.store(close_ns, std::memory_order_relaxed); }

  Nanos open_ns() const { return open_ns_.load(std::memory_order_relaxed); }
  Nanos close_ns() const { return close_ns_.load(std::memory_order_relaxed); }
  bool Contains(Nanos t) const { return t >= open_ns() && t < close_ns(); }
  bool IsOver(Nanos now) const { return now >= close_ns(); }

 private:
  std::atomic<Nanos> open_ns_{INT64_MAX};
  std::atomic<Nanos> close_ns_{INT64_MAX};
};

// gRPC status codes 0 to 16, and one of ours for an RPC that succeeded with a wrong answer.
inline constexpr int kBadResponse = 17;
inline constexpr int kNumOutcomes = 18;
// The canonical name ("DEADLINE_EXCEEDED"); values outside 0..17 are named UNKNOWN.
absl::string_view OutcomeName(int code);

struct Failures {
  std::array<uint64_t, kNumOutcomes> count{};
  std::array<std::string, kNumOutcomes> first_message;

  void Add(int code, absl::string_view message);
  void Merge(const Failures& other);
  uint64_t Total() const;
};

// One per worker thread, written by that thread alone; merged after the thread has ended. Only Completed() may be
// called from elsewhere meanwhile (the progress line).
//
// A success counts towards throughput when it was done inside the window. A latency belongs to the window in which the
// call was due, which in a closed loop is when it was sent: calls that are still out when the window closes are waited
// for and their latency is kept, or the slowest calls would be missing from the percentiles. A failure counts when the
// call was due or done inside the window.
class alignas(64) Recorder {
 public:
  // `window` must outlive the recorder.
  explicit Recorder(const RunWindow* window) : window_(window) {}

  // True when the call counts towards throughput.
  bool Success(Nanos sent_ns, Nanos done_ns) {
    if (window_->Contains(sent_ns)) latency_.Record(done_ns - sent_ns);
    if (!window_->Contains(done_ns)) return false;
    completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return true;
  }

  // `code` as in OutcomeName; the message is kept only for the first of each code, as one line of at most 300 bytes.
  void Failure(Nanos sent_ns, Nanos done_ns, int code, absl::string_view message);

  // Of a call in the sample of --breakdown: what its parts took. `wait_ns` below 0: cannot be told apart.
  void Parts(Nanos sent_ns, Nanos issue_ns, Nanos wait_ns);

  void Merge(const Recorder& other);

  uint64_t Completed() const { return completed_.load(std::memory_order_relaxed); }
  const Histogram& latency() const { return latency_; }
  const Failures& failures() const { return failures_; }
  struct PartTimes {
    Histogram issue;  // from before the call to the API until it returned
    Histogram wait;   // from there until the end of the call was seen
  };
  const PartTimes* parts() const { return parts_.get(); }  // nullptr: none

 private:
  const RunWindow* window_;
  // Atomic only so that it can be read meanwhile: a single writer needs no read-modify-write.
  std::atomic<uint64_t> completed_{0};
  Histogram latency_;
  Failures failures_;
  std::unique_ptr<PartTimes> parts_;  // from the first use on: few runs want it
};

}  // namespace cqbench
