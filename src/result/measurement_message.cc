#include "src/result/measurement_message.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cqbench/run_config.h"

namespace cqbench {
namespace {

namespace proto = measured::v1;

// No client has more, so that sums over ranks do not overflow.
constexpr uint64_t kMaxCount = uint64_t{1} << 40;
constexpr Nanos kMaxNanos = INT64_MAX / 4;

template <class T>  // Histogram, CoarseHistogram
void Write(const T& from, proto::Histogram& to) {
  from.ForEach([&](Nanos value_ns, uint64_t count) {
    to.add_value_ns(value_ns);
    to.add_count(count);
  });
}

void WriteExact(const Histogram& from, proto::Histogram& to) {
  if (from.Count() == 0) return;
  Write(from, to);
  to.set_sum_ns(from.Sum());
  to.set_min_ns(from.Min());
  to.set_max_ns(from.Max());
}

void WriteIfAny(const std::unique_ptr<Histogram>& from, proto::Histogram* (proto::Measurement::*to)(),
                proto::Measurement& message) {
  if (from) WriteExact(*from, *(message.*to)());
}

bool IsHistogram(const proto::Histogram& from) {
  return from.value_ns_size() == from.count_size() &&
         std::all_of(from.count().begin(), from.count().end(), [](uint64_t n) { return n > 0 && n <= kMaxCount; });
}

bool Read(const proto::Histogram& from, Histogram& to) {
  if (!IsHistogram(from)) return false;
  std::vector<std::pair<size_t, uint64_t>> buckets;
  for (int i = 0; i < from.count_size(); ++i) {
    const Nanos value_ns = from.value_ns(i);
    const size_t index = value_ns < 0 ? 0 : Histogram::IndexOf(value_ns);
    if (Histogram::HighestValueOf(index) != value_ns) return false;
    buckets.emplace_back(index, from.count(i));
  }
  return buckets.empty() || to.Assign(buckets, from.sum_ns(), from.min_ns(), from.max_ns());
}

bool Read(const proto::Histogram& from, CoarseHistogram& to) {
  if (!IsHistogram(from)) return false;
  for (int i = 0; i < from.count_size(); ++i) {
    if (from.count(i) > UINT32_MAX) return false;
    to.Record(from.value_ns(i), static_cast<uint32_t>(from.count(i)));
  }
  return true;
}

bool ReadIfAny(bool there, const proto::Histogram& from, std::unique_ptr<Histogram>& to) {
  if (!there) return true;
  to = std::make_unique<Histogram>();
  return Read(from, *to);
}

void Write(const CallCounts& from, proto::CallCounts& to) {
  to.set_due(from.due);
  to.set_sent(from.sent);
  to.set_dropped(from.dropped);
  to.set_unsent(from.unsent);
  to.set_ok(from.ok);
  to.set_failed(from.failed);
  to.set_unfinished(from.unfinished);
}

CallCounts Read(const proto::CallCounts& from) {
  return {from.due(), from.sent(), from.dropped(), from.unsent(), from.ok(), from.failed(), from.unfinished()};
}

void Write(const Pacing& from, proto::Pacing& to) {
  WriteExact(from.lateness, *to.mutable_lateness());
  WriteExact(from.slot_wait, *to.mutable_slot_wait());
  to.set_largest_burst(from.largest_burst);
  for (const Pacing::Outstanding& half : from.outstanding) {
    proto::Outstanding& written = *to.add_outstanding();
    written.set_sum(half.sum);
    written.set_samples(half.samples);
  }
  to.set_pacers(from.pacers);
  to.set_margin_ns(from.margin_ns);
}

bool Read(const proto::Pacing& from, Pacing& to) {
  if (static_cast<size_t>(from.outstanding_size()) != to.outstanding.size()) return false;
  for (size_t half = 0; half < to.outstanding.size(); ++half) {
    const proto::Outstanding& read = from.outstanding(static_cast<int>(half));
    to.outstanding[half] = {read.sum(), read.samples()};
    if (!std::isfinite(read.sum()) || read.samples() > kMaxCount) return false;
  }
  to.largest_burst = from.largest_burst();
  to.pacers = from.pacers();
  to.margin_ns = from.margin_ns();
  return to.pacers >= 0 && to.pacers <= kMaxInflight && to.margin_ns >= 0 && to.margin_ns <= kMaxNanos &&
         Read(from.lateness(), to.lateness) && Read(from.slot_wait(), to.slot_wait);
}

void Write(const TimeBucket& from, proto::TimeBucket& to) {
  to.set_completed(from.completed);
  if (std::any_of(from.failed.begin(), from.failed.end(), [](uint32_t n) { return n > 0; })) {
    to.mutable_failed()->Assign(from.failed.begin(), from.failed.end());
  }
  Write(from.latency, *to.mutable_latency());
}

bool Read(const proto::TimeBucket& from, TimeBucket& to) {
  to.completed = from.completed();
  const auto statuses = static_cast<size_t>(from.failed_size());
  if (statuses != 0 && statuses != to.failed.size()) return false;
  std::copy(from.failed().begin(), from.failed().end(), to.failed.begin());
  return Read(from.latency(), to.latency);
}

bool Read(const proto::Measurement& from, Failures& to) {
  for (const proto::Failure& failure : from.failures()) {
    if (failure.code() < 0 || failure.code() >= kNumOutcomes) return false;
    const auto code = static_cast<size_t>(failure.code());
    to.count[code] = failure.count();
    to.first_message[code] = failure.first_message();
  }
  return true;
}

bool ReadBuckets(const proto::Measurement& from, Measurement& to) {
  to.bucket_ns = from.bucket_ns();
  if (to.bucket_ns < 0 || to.bucket_ns > kMaxNanos || from.buckets_size() > kMaxTimeBuckets) return false;
  to.time_buckets.resize(static_cast<size_t>(from.buckets_size()));
  for (size_t i = 0; i < to.time_buckets.size(); ++i) {
    if (!Read(from.buckets(static_cast<int>(i)), to.time_buckets[i])) return false;
  }
  return true;
}

bool Read(const proto::Measurement& from, Measurement& to) {
  to.window_ns = from.window_ns();
  to.completed = from.completed();
  to.counts = Read(from.counts());
  to.schedule_hash = from.schedule_hash();
  to.completed_per_slot.assign(from.completed_per_slot().begin(), from.completed_per_slot().end());
  if (from.has_chunks()) {
    to.messages = std::make_unique<MessageTimes>();
    to.messages->messages = from.chunks().count();
    if (!Read(from.chunks().gaps(), to.messages->gaps)) return false;
  }
  if (from.has_pacing()) {
    to.pacing = std::make_unique<Pacing>();
    if (!Read(from.pacing(), *to.pacing)) return false;
  }
  return to.window_ns >= 0 && to.window_ns <= kMaxNanos && Read(from.latency(), to.latency) &&
         ReadIfAny(from.has_from_sent(), from.from_sent(), to.from_sent) &&
         ReadIfAny(from.has_at_least(), from.at_least(), to.at_least) &&
         ReadIfAny(from.has_at_least_from_sent(), from.at_least_from_sent(), to.at_least_from_sent) &&
         Read(from, to.failures) && ReadBuckets(from, to);
}

}  // namespace

proto::Measurement ToMessage(const Measurement& m) {
  proto::Measurement message;
  message.set_window_ns(m.window_ns);
  message.set_completed(m.completed);
  Write(m.counts, *message.mutable_counts());
  WriteExact(m.latency, *message.mutable_latency());
  WriteIfAny(m.from_sent, &proto::Measurement::mutable_from_sent, message);
  WriteIfAny(m.at_least, &proto::Measurement::mutable_at_least, message);
  WriteIfAny(m.at_least_from_sent, &proto::Measurement::mutable_at_least_from_sent, message);
  for (int code = 0; code < kNumOutcomes; ++code) {
    const auto i = static_cast<size_t>(code);
    if (m.failures.count[i] == 0) continue;
    proto::Failure& failure = *message.add_failures();
    failure.set_code(code);
    failure.set_count(m.failures.count[i]);
    failure.set_first_message(m.failures.first_message[i]);
  }
  message.set_bucket_ns(m.bucket_ns);
  for (const TimeBucket& bucket : m.time_buckets) Write(bucket, *message.add_buckets());
  if (m.messages) {
    message.mutable_chunks()->set_count(m.messages->messages);
    WriteExact(m.messages->gaps, *message.mutable_chunks()->mutable_gaps());
  }
  if (m.pacing) Write(*m.pacing, *message.mutable_pacing());
  message.set_schedule_hash(m.schedule_hash);
  message.mutable_completed_per_slot()->Assign(m.completed_per_slot.begin(), m.completed_per_slot.end());
  return message;
}

absl::StatusOr<Measurement> FromMessage(const proto::Measurement& message) {
  Measurement measurement;
  if (Read(message, measurement)) return measurement;
  return absl::InvalidArgumentError("what it measured cannot be read: it was damaged, or it is of another version");
}

}  // namespace cqbench
