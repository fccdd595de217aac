// The measurement of one process in one window: plain data that merges with another process's. Reports follow from it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/base/clock.h"
#include "src/stats/gap_meter.h"
#include "src/stats/histogram.h"

namespace cqbench {

// gRPC status codes 0 to 16, and a code of cqbench's for a successful RPC with a wrong response.
inline constexpr int kBadResponse = 17;
inline constexpr int kNumOutcomes = 18;
// The index of a code among outcomes; codes outside 0..17 count as UNKNOWN.
inline size_t OutcomeIndex(int code) {
  return static_cast<size_t>(code >= 0 && code < kNumOutcomes ? code : 2);
}
// The canonical name ("DEADLINE_EXCEEDED") of OutcomeIndex().
absl::string_view OutcomeName(int code);

struct Failures {
  std::array<uint64_t, kNumOutcomes> count{};
  std::array<std::string, kNumOutcomes> first_message;

  // The message is kept only for the first of each code, as one line of at most 300 bytes.
  void Add(int code, absl::string_view message);
  void Merge(const Failures& other);
  uint64_t Total() const;
};

// Counts of the calls that belong to the window: those that were due in it, and those that were due before and
// outlasted it. due = sent + dropped + unsent, and sent = ok + failed + unfinished, exactly, once the point has ended.
struct CallCounts {
  uint64_t due = 0;
  uint64_t sent = 0;
  uint64_t dropped = 0;  // due while all slots were taken, with AtLimit::kDrop
  uint64_t unsent = 0;   // still waiting for a slot when the drain time was over
  uint64_t ok = 0;
  uint64_t failed = 0;      // with any status, or a wrong response
  uint64_t unfinished = 0;  // the client cancelled them because the drain time was over

  void Merge(const CallCounts& other);
};

// A latency histogram with less detail and memory, for the time buckets of a time series: values below 128 ns have a
// bucket each, every further power of two 64, so a percentile is at most 1.6 % too high. The maximum is exact.
class CoarseHistogram {
 public:
  CoarseHistogram();
  // Values below zero count as zero.
  void Record(Nanos value_ns) { Record(value_ns, 1); }
  // The same value `times` times.
  void Record(Nanos value_ns, uint32_t times) {
    if (value_ns < 0) value_ns = 0;
    counts_[IndexOf(value_ns)] += times;
    count_ += times;
    if (value_ns > max_) max_ = value_ns;
  }
  void Merge(const CoarseHistogram& other);
  uint64_t Count() const { return count_; }
  Nanos Max() const { return max_; }
  // Calls visit(value_ns, count) for every bucket that holds something, ascending, with the bucket's highest value, or
  // with Max() for the last one: to record the same again makes the same histogram.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    if (count_ == 0) return;
    for (size_t i = 0, last = IndexOf(max_); i <= last; ++i) {
      if (counts_[i] > 0) visit(i < last ? HighestValueOf(i) : max_, uint64_t{counts_[i]});
    }
  }
  // As Histogram::ValueAtPercentile().
  Nanos ValueAtPercentile(double percent) const;

 private:
  static constexpr int kSubBits = 6;
  static constexpr uint64_t kExact = uint64_t{2} << kSubBits;
  static constexpr size_t kBuckets = (size_t{37 - kSubBits - 1} << kSubBits) + kExact;

  static size_t IndexOf(Nanos value_ns) {
    const auto v = static_cast<uint64_t>(value_ns < Histogram::kMaxTrackableNs ? value_ns : Histogram::kMaxTrackableNs);
    if (v < kExact) return static_cast<size_t>(v);
    const int shift = static_cast<int>(std::bit_width(v)) - kSubBits - 1;
    return (static_cast<size_t>(shift) << kSubBits) + static_cast<size_t>(v >> shift);
  }
  static Nanos HighestValueOf(size_t index);
  struct Free {
    void operator()(uint32_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint32_t[], Free> counts_;  // pages that are never touched cost nothing
  uint64_t count_ = 0;
  Nanos max_ = 0;
};

// An equal part of the window.
struct TimeBucket {
  uint64_t completed = 0;                       // successes that were done in it
  CoarseHistogram latency;                      // from due, of the successes that were due in it
  std::array<uint32_t, kNumOutcomes> failed{};  // failures that were done in it, by OutcomeIndex()
};

// Times of a call's parts, for a sample of the calls (--breakdown).
struct PartTimes {
  Histogram issue;  // from before the call to the API until it returned
  Histogram wait;   // from there until the end of the call was seen
  void Merge(const PartTimes& other);
};

// Messages of streams of chunks that were written or read inside the window, wherever their calls ended.
struct MessageTimes {
  uint64_t messages = 0;
  Histogram gaps;  // from each to the next of its stream
  void Merge(const MessageTimes& other);
};

// Open loop only: how well the client kept the schedule, for calls due in the window.
struct Pacing {
  Histogram lateness;          // from due until the pacer handled the call
  Histogram slot_wait;         // from there until there was a slot for it; calls that found one at once count as 0
  GapMeter gaps;               // of the times at which the pacer sent, or would have sent had there been a slot
  uint64_t largest_burst = 0;  // calls that were due at one sample of the pacer
  // Calls that were due and had not ended, summed over the samples of the pacer, by half of the window.
  struct Outstanding {
    double sum = 0;
    uint64_t samples = 0;
    double Mean() const { return samples > 0 ? sum / static_cast<double>(samples) : 0; }
  };
  std::array<Outstanding, 2> outstanding;
  int pacers = 0;
  Nanos margin_ns = 0;  // the largest of several
  void Merge(const Pacing& other);
};

struct Measurement {
  Nanos window_ns = 0;     // measured length
  uint64_t completed = 0;  // successes done inside the window, whenever due: throughput
  CallCounts counts;
  Histogram latency;                              // from due to done, of successes that belong to the window
  std::unique_ptr<Histogram> from_sent;           // from sent to done; absent in a closed loop, where due is sent
  std::unique_ptr<Histogram> at_least;            // ages, from due, of calls that never ended or never were sent
  std::unique_ptr<Histogram> at_least_from_sent;  // open loop: ages, from sent, of calls that never ended
  Failures failures;                              // of calls that belong to the window
  Nanos bucket_ns = 0;                            // 0: no time series
  std::vector<TimeBucket> time_buckets;
  std::unique_ptr<PartTimes> parts;
  std::unique_ptr<MessageTimes> messages;
  std::unique_ptr<Pacing> pacing;
  uint64_t schedule_hash = 0;  // 0: a closed loop
  std::vector<uint64_t> completed_per_slot;
  // The first successes that ended in the window or later, and after it: they prove that a thread was running then.
  Nanos first_end_ns = INT64_MAX;
  Nanos first_end_after_ns = INT64_MAX;

  // Adds the measurement of another process or thread. The windows must be the same; slots are appended.
  void Merge(const Measurement& other);
};

}  // namespace cqbench
