// Records the calls of one thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "cqbench/measurement.h"
#include "src/base/clock.h"

namespace cqbench {

// The measured window [open, close) of one point. The runner sets both ends before the threads start, or, when the
// warm-up is over after a number of calls, a little before it opens; it moves `close` forward when the run is
// interrupted. Threads only read, so the line stays shared in every cache.
class RunWindow {
 public:
  // With a time series of `time_buckets` parts of `bucket_ns` each; without one by default.
  explicit RunWindow(int time_buckets = 0, Nanos bucket_ns = 0) : time_buckets_(time_buckets), bucket_ns_(bucket_ns) {}

  void Set(Nanos open_ns, Nanos close_ns) {
    open_ns_.store(open_ns, std::memory_order_relaxed);
    close_ns_.store(close_ns, std::memory_order_relaxed);
  }
  void CloseAt(Nanos close_ns) { close_ns_.store(close_ns, std::memory_order_relaxed); }

  Nanos open_ns() const { return open_ns_.load(std::memory_order_relaxed); }
  Nanos close_ns() const { return close_ns_.load(std::memory_order_relaxed); }
  bool Contains(Nanos t) const { return t >= open_ns() && t < close_ns(); }
  bool IsOver(Nanos now) const { return now >= close_ns(); }
  // Returns true if a call that was due and done at these times belongs to the window: due in it, or due before and
  // outlasting it. The latter are the longest calls; without them the window would hide long calls.
  bool Owns(Nanos due, Nanos done) const { return due < close_ns() && (due >= open_ns() || done >= close_ns()); }
  int time_buckets() const { return time_buckets_; }
  Nanos bucket_ns() const { return bucket_ns_; }

 private:
  const int time_buckets_;
  const Nanos bucket_ns_;
  std::atomic<Nanos> open_ns_{INT64_MAX};
  std::atomic<Nanos> close_ns_{INT64_MAX};
};

// When a call was to be sent, was sent, and was seen to end. In a closed loop a call is due when the one before it in
// its slot has ended (after a failure: 10 ms later), and is sent when it is due: what the client itself does between
// two calls is part of the second one's latency, for every API and shape alike.
struct CallTimes {
  Nanos due_ns = 0;
  Nanos sent_ns = 0;
  Nanos done_ns = 0;
};

// One per thread that sees calls begin or end, written by that thread alone; merged after the thread has ended. Only
// Completed() and CompletedBefore() may be called from elsewhere meanwhile (the progress line, --total, --skip-first).
//
// A success counts towards throughput when it was done inside the window. Everything else goes by
// RunWindow::Owns().
class alignas(64) Recorder {
 public:
  // `window` must outlive the recorder. `open_loop`: due and sent may differ.
  explicit Recorder(const RunWindow* window, bool open_loop = false);

  // A call that was due then has been given to the API. In an open loop, how many are due follows from the schedule.
  void Sent(Nanos due_ns) {
    if (window_->Contains(due_ns)) ++data_.counts.sent;
  }
  // True when the call counts towards throughput. Inlined: otherwise its argument goes through memory, once per call.
  [[gnu::always_inline]] bool Success(const CallTimes& call) {
    // Nearly always in the bucket of the last call, which is inside the window unless that was cut short.
    if (call.due_ns < bucket_begins_ || call.done_ns >= bucket_ends_ || window_->IsOver(call.done_ns)) [[unlikely]]
      return SuccessElsewhere(call);
    RecordLatencies(call);
    if (bucket_ != nullptr) {
      bucket_->latency.Record(call.done_ns - call.due_ns);
      ++bucket_->completed;
    }
    CountCompleted();
    return true;
  }
  // `code` as in OutcomeName().
  void Failure(const CallTimes& call, int code, absl::string_view message);
  // A call that we gave up at done_ns, when it had not ended, or (Unsent) had not even been sent.
  void Unfinished(const CallTimes& call);
  void Unsent(Nanos due_ns, Nanos gave_up_ns);
  void Dropped(Nanos due_ns);

  // Open loop. The pacer sampled at a call that is due, at that time; `outstanding` calls have not ended, it included.
  void SampledPacer(Nanos due_ns, Nanos sampled_ns, int64_t outstanding);
  // The next of all calls was sent, or would have been had there been a slot; by the one thread that sees all of them.
  void Arrival(Nanos due_ns, Nanos sampled_ns) {
    if (window_->Contains(due_ns)) data_.pacing->gaps.Add(sampled_ns);
  }
  // `calls` were due at once when it sampled.
  void Burst(Nanos now, uint64_t calls);
  // There was a slot for it: at once (0), or later.
  void GotSlot(Nanos due_ns, Nanos waited_ns);

  // Records the parts of a call in the sample of --breakdown. `wait_ns` below 0: the parts cannot be separated.
  void Parts(Nanos due_ns, Nanos issue_ns, Nanos wait_ns);

  // A message of a stream moved; `gap_ns` after the one before it, or below 0: it is the first.
  void Message(Nanos moved_ns, Nanos gap_ns);

  uint64_t Completed() const { return completed_.load(std::memory_order_relaxed); }
  // Successes that were done before the window opened.
  uint64_t CompletedBefore() const { return completed_before_.load(std::memory_order_relaxed); }
  // Calls that failed so far, also before and after the window.
  uint64_t Failed() const { return failed_.load(std::memory_order_relaxed); }
  // After the thread has ended.
  void MergeInto(Measurement& total) const;

 private:
  // Due or done in another bucket than the last call, or outside the window.
  bool SuccessElsewhere(const CallTimes& call);
  // The first success of the window, and the first after it, are always ones of those.
  void NoteEnd(Nanos done);
  void RecordLatencies(const CallTimes& call) {
    data_.latency.Record(call.done_ns - call.due_ns);
    if (data_.from_sent) data_.from_sent->Record(call.done_ns - call.sent_ns);
  }
  void CountCompleted() { completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  // A call that was due before the window was not counted when it was sent.
  void CountSpanning(Nanos due_ns) {
    if (due_ns >= window_->open_ns()) return;
    ++data_.counts.due;
    ++data_.counts.sent;
  }
  // The bucket of a time in the window becomes the current one; nullptr when there is no time series.
  TimeBucket* MoveTo(Nanos t);

  const RunWindow* window_;
  // The current bucket, from and up to when: all of the window when there is no time series. At first nothing.
  TimeBucket* bucket_ = nullptr;
  Nanos bucket_begins_ = INT64_MAX;
  Nanos bucket_ends_ = INT64_MIN;
  // Atomic only so that it can be read meanwhile: a single writer needs no read-modify-write.
  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> completed_before_{0};
  std::atomic<uint64_t> failed_{0};
  Measurement data_;
};

}  // namespace cqbench
