// Turns a measurement into the figures of a point.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cqbench/result.h"
#include "src/stats/hdr_encoding.h"

namespace cqbench {
namespace {

// The ages of censored calls are among the latencies.
std::string Encode(const Histogram& ended, const Histogram* at_least) {
  if (at_least == nullptr || at_least->Count() == 0) return EncodeHdr(ended);
  Histogram all;
  all.Merge(ended);
  all.Merge(*at_least);
  return EncodeHdr(all);
}

std::vector<ErrorCount> Errors(const Failures& failures) {
  std::vector<ErrorCount> errors;
  for (size_t i = 0; i < failures.count.size(); ++i) {
    if (failures.count[i] == 0) continue;
    errors.push_back({std::string(OutcomeName(static_cast<int>(i))), failures.count[i], failures.first_message[i]});
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const ErrorCount& a, const ErrorCount& b) { return a.count > b.count; });
  return errors;
}

std::vector<TimeBucketResult> TimeBuckets(const Measurement& m) {
  std::vector<TimeBucketResult> time_buckets;
  for (const TimeBucket& bucket : m.time_buckets) {
    const uint64_t failed = std::accumulate(bucket.failed.begin(), bucket.failed.end(), uint64_t{0});
    time_buckets.push_back({bucket.completed, failed, bucket.latency.ValueAtPercentile(50),
                            bucket.latency.ValueAtPercentile(99), bucket.latency.Max()});
  }
  return time_buckets;
}

std::vector<TimeBucketFailures> FailuresOfTimeBuckets(const Measurement& m) {
  std::vector<TimeBucketFailures> failures;
  for (size_t code = 0; code < kNumOutcomes; ++code) {
    TimeBucketFailures of{std::string(OutcomeName(static_cast<int>(code))), {}};
    for (const TimeBucket& bucket : m.time_buckets) of.counts.push_back(bucket.failed[code]);
    const bool any = std::any_of(of.counts.begin(), of.counts.end(), [](uint64_t count) { return count > 0; });
    if (any) failures.push_back(std::move(of));
  }
  return failures;
}

void DescribePacing(const Pacing& pacing, OpenLoopResult& open) {
  open.lateness_p50_ns = pacing.lateness.ValueAtPercentile(50);
  open.lateness_p99_ns = pacing.lateness.ValueAtPercentile(99);
  open.lateness_max_ns = pacing.lateness.Max();
  open.slot_wait_mean_ns = std::llround(pacing.slot_wait.Mean());
  open.slot_wait_p99_ns = pacing.slot_wait.ValueAtPercentile(99);
  open.slot_wait_max_ns = pacing.slot_wait.Max();
  open.largest_burst = pacing.largest_burst;
  open.outstanding_first_half = pacing.outstanding[0].Mean();
  open.outstanding_second_half = pacing.outstanding[1].Mean();
  open.pacers = pacing.pacers;
  open.margin_ns = pacing.margin_ns;
  if (const auto shape = pacing.gaps.Shape()) {
    open.gap_cv = shape->variation;
    open.gap_correlation = shape->correlation;
  }
}

}  // namespace

void Describe(const Measurement& m, PointResult& point) {
  point.window_ns = m.window_ns;
  point.completed = m.completed;
  point.counts = m.counts;
  point.latency = Summarize(m.latency, m.at_least.get());
  point.latency_histogram = Encode(m.latency, m.at_least.get());
  point.errors = Errors(m.failures);
  point.completed_per_slot = m.completed_per_slot;
  point.time_buckets = TimeBuckets(m);
  point.bucket_failures = FailuresOfTimeBuckets(m);
  point.bucket_ns = point.time_buckets.empty() ? 0 : m.bucket_ns;
  if (!m.from_sent && !m.pacing) return;
  point.open_loop.emplace();
  if (m.from_sent) {
    point.open_loop->from_sent = Summarize(*m.from_sent, m.at_least_from_sent.get());
    point.open_loop->from_sent_histogram = Encode(*m.from_sent, m.at_least_from_sent.get());
  }
  if (m.pacing) DescribePacing(*m.pacing, *point.open_loop);
  point.open_loop->schedule_hash = m.schedule_hash;
}

}  // namespace cqbench
