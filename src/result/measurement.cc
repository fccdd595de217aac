#include "cqbench/measurement.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "src/base/clean_text.h"

namespace cqbench {
namespace {

// Messages come from the network.
constexpr size_t kMaxMessageBytes = 300;

template <typename T>
void MergeOptional(std::unique_ptr<T>& into, const std::unique_ptr<T>& from) {
  if (!from) return;
  if (!into) into = std::make_unique<T>();
  into->Merge(*from);
}

}  // namespace

absl::string_view OutcomeName(int code) {
  static constexpr absl::string_view kNames[kNumOutcomes] = {
      "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED", "BAD_RESPONSE",
  };
  return kNames[OutcomeIndex(code)];
}

void Failures::Add(int code, absl::string_view message) {
  const size_t i = OutcomeIndex(code);
  if (count[i]++ == 0) first_message[i] = CleanText(message, kMaxMessageBytes);
}

void Failures::Merge(const Failures& other) {
  for (size_t i = 0; i < count.size(); ++i) {
    if (count[i] == 0) first_message[i] = other.first_message[i];
    count[i] += other.count[i];
  }
}

uint64_t Failures::Total() const {
  return std::accumulate(count.begin(), count.end(), uint64_t{0});
}

void CallCounts::Merge(const CallCounts& other) {
  for (uint64_t CallCounts::*field : {&CallCounts::due, &CallCounts::sent, &CallCounts::dropped, &CallCounts::unsent,
                                      &CallCounts::ok, &CallCounts::failed, &CallCounts::unfinished}) {
    this->*field += other.*field;
  }
}

// calloc for the same reason as in Histogram.
CoarseHistogram::CoarseHistogram() : counts_(static_cast<uint32_t*>(std::calloc(kBuckets, sizeof(uint32_t)))) {
  if (counts_ == nullptr) throw std::bad_alloc();
}

Nanos CoarseHistogram::HighestValueOf(size_t index) {
  const size_t shift = index < kExact ? 0 : (index >> kSubBits) - 1;
  const uint64_t sub = index - (shift << kSubBits);
  return static_cast<Nanos>(((sub + 1) << shift) - 1);
}

void CoarseHistogram::Merge(const CoarseHistogram& other) {
  if (other.count_ == 0) return;
  for (size_t i = 0; i <= IndexOf(other.max_); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Nanos CoarseHistogram::ValueAtPercentile(double percent) const {
  if (count_ == 0) return 0;
  const double exact = percent / 100.0 * static_cast<double>(count_);
  const auto rank = std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(exact - 1e-9 * exact)), 1, count_);
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(HighestValueOf(i), max_);
  }
  return max_;
}

void PartTimes::Merge(const PartTimes& other) {
  issue.Merge(other.issue);
  wait.Merge(other.wait);
}

void Pacing::Merge(const Pacing& other) {
  lateness.Merge(other.lateness);
  slot_wait.Merge(other.slot_wait);
  gaps.Merge(other.gaps);
  largest_burst = std::max(largest_burst, other.largest_burst);
  for (size_t half = 0; half < outstanding.size(); ++half) {
    outstanding[half].sum += other.outstanding[half].sum;
    outstanding[half].samples += other.outstanding[half].samples;
  }
  pacers += other.pacers;
  margin_ns = std::max(margin_ns, other.margin_ns);
}

void MessageTimes::Merge(const MessageTimes& other) {
  messages += other.messages;
  gaps.Merge(other.gaps);
}

void Measurement::Merge(const Measurement& other) {
  window_ns = std::max(window_ns, other.window_ns);
  completed += other.completed;
  counts.Merge(other.counts);
  latency.Merge(other.latency);
  MergeOptional(from_sent, other.from_sent);
  MergeOptional(at_least, other.at_least);
  MergeOptional(at_least_from_sent, other.at_least_from_sent);
  failures.Merge(other.failures);
  bucket_ns = std::max(bucket_ns, other.bucket_ns);
  if (time_buckets.size() < other.time_buckets.size()) time_buckets.resize(other.time_buckets.size());
  for (size_t i = 0; i < other.time_buckets.size(); ++i) {
    time_buckets[i].completed += other.time_buckets[i].completed;
    for (size_t k = 0; k < time_buckets[i].failed.size(); ++k)
      time_buckets[i].failed[k] += other.time_buckets[i].failed[k];
    time_buckets[i].latency.Merge(other.time_buckets[i].latency);
  }
  MergeOptional(parts, other.parts);
  MergeOptional(messages, other.messages);
  MergeOptional(pacing, other.pacing);
  schedule_hash ^= other.schedule_hash;
  completed_per_slot.insert(completed_per_slot.end(), other.completed_per_slot.begin(), other.completed_per_slot.end());
  first_end_ns = std::min(first_end_ns, other.first_end_ns);
  first_end_after_ns = std::min(first_end_after_ns, other.first_end_after_ns);
}

}  // namespace cqbench
