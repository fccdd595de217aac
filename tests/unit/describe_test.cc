// The facts that a measurement reports about a point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "cqbench/result.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Measurement Closed() {
  Measurement m;
  m.window_ns = 2 * kNanosPerSecond;
  m.completed = 1'000;
  m.counts = {1'003, 1'003, 0, 0, 1'000, 3, 0};
  m.latency.Record(100, 1'000);
  m.failures.Add(14, "refused");
  m.failures.Add(4, "late");
  m.failures.Add(4, "later");
  m.completed_per_slot = {600, 400};
  return m;
}

PointResult Described(const Measurement& m) {
  PointResult point;
  Describe(m, point);
  return point;
}

TEST(Describe, TakesWindowCountsAndLatencies) {
  const PointResult point = Described(Closed());
  EXPECT_EQ(point.window_ns, 2 * kNanosPerSecond);
  EXPECT_DOUBLE_EQ(point.ThroughputPerSecond(), 500);
  EXPECT_EQ(point.counts.due, 1'003u);
  EXPECT_EQ(point.latency->count, 1'000u);
  EXPECT_EQ(point.latency->p50_ns, 100);
  EXPECT_EQ(point.latency_histogram.substr(0, 8), "HISTFAAA");
  EXPECT_THAT(point.completed_per_slot, ElementsAre(600, 400));
  EXPECT_FALSE(point.open_loop.has_value());
  EXPECT_THAT(point.time_buckets, IsEmpty());
}

TEST(Describe, ErrorsAreMostFrequentFirst) {
  const PointResult point = Described(Closed());
  ASSERT_EQ(point.errors.size(), 2u);
  EXPECT_EQ(point.errors[0].code, "DEADLINE_EXCEEDED");
  EXPECT_EQ(point.errors[0].count, 2u);
  EXPECT_EQ(point.errors[0].first_message, "late");
  EXPECT_EQ(point.errors[1].code, "UNAVAILABLE");
}

TEST(Describe, CallsThatNeverEndedAreInTheLatenciesAndTheHistogram) {
  Measurement m = Closed();
  const std::string without = Described(m).latency_histogram;
  m.at_least = std::make_unique<Histogram>();
  EXPECT_EQ(Described(m).latency_histogram, without) << "there is none yet";
  m.at_least->Record(5 * kNanosPerSecond, 4);
  const PointResult point = Described(m);
  EXPECT_EQ(point.latency->count, 1'004u);
  EXPECT_EQ(point.latency->at_least, 4u);
  EXPECT_NE(point.latency_histogram, without);
}

TEST(Describe, HangingCallsAloneAreLatenciesToo) {
  Measurement m;
  m.window_ns = kNanosPerSecond;
  m.at_least = std::make_unique<Histogram>();
  m.at_least->Record(kNanosPerSecond, 8);
  const PointResult point = Described(m);
  EXPECT_EQ(point.latency->count, 8u);
  EXPECT_FALSE(point.latency_histogram.empty());
  EXPECT_TRUE(Described(Measurement()).latency_histogram.empty());
}

TEST(Describe, TimeSeries) {
  Measurement m = Closed();
  m.bucket_ns = kNanosPerSecond;
  m.time_buckets.resize(2);
  m.time_buckets[0].completed = 990;
  for (int i = 0; i < 99; ++i) m.time_buckets[0].latency.Record(64);
  m.time_buckets[0].latency.Record(100);
  m.time_buckets[1].completed = 10;
  m.time_buckets[1].failed[14] = 2;
  m.time_buckets[1].failed[4] = 1;
  const PointResult point = Described(m);
  EXPECT_EQ(point.bucket_ns, kNanosPerSecond);
  ASSERT_EQ(point.time_buckets.size(), 2u);
  EXPECT_EQ(point.time_buckets[0].completed, 990u);
  EXPECT_EQ(point.time_buckets[0].p50_ns, 64);
  EXPECT_EQ(point.time_buckets[0].p99_ns, 64);
  EXPECT_EQ(point.time_buckets[0].max_ns, 100);
  EXPECT_EQ(point.time_buckets[1].failed, 3u);
  ASSERT_EQ(point.bucket_failures.size(), 2u);
  EXPECT_EQ(point.bucket_failures[0].code, "DEADLINE_EXCEEDED");
  EXPECT_EQ(point.bucket_failures[0].counts, (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(point.bucket_failures[1].code, "UNAVAILABLE");
  EXPECT_EQ(point.bucket_failures[1].counts, (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(point.time_buckets[1].max_ns, 0);
}

TEST(Describe, OpenLoopHasLatenciesFromSentAndPacing) {
  Measurement m = Closed();
  m.schedule_hash = 42;
  m.from_sent = std::make_unique<Histogram>();
  m.from_sent->Record(90, 1'000);
  m.at_least_from_sent = std::make_unique<Histogram>();
  m.at_least_from_sent->Record(70);
  m.pacing = std::make_unique<Pacing>();
  for (Nanos value = 1; value <= 100; ++value) m.pacing->lateness.Record(value);
  m.pacing->slot_wait.Record(10);
  m.pacing->slot_wait.Record(21);
  m.pacing->largest_burst = 5;
  m.pacing->outstanding[0] = {30, 10};
  m.pacing->outstanding[1] = {45, 10};
  m.pacing->pacers = 2;
  m.pacing->margin_ns = 60'000;
  for (Nanos i = 0; i < 300; ++i) m.pacing->gaps.Add(i * 1000);
  const OpenLoopResult open = Described(m).open_loop.value();
  EXPECT_EQ(open.from_sent->count, 1'001u);
  EXPECT_EQ(open.from_sent->at_least, 1u);
  EXPECT_FALSE(open.from_sent->Knows(&LatencyStats::p50_ns)) << "90, and one that took at least 70";
  EXPECT_EQ(open.from_sent_histogram.substr(0, 8), "HISTFAAA");
  EXPECT_EQ(open.lateness_p50_ns, 50);
  EXPECT_EQ(open.lateness_p99_ns, 99);
  EXPECT_EQ(open.lateness_max_ns, 100);
  EXPECT_EQ(open.slot_wait_mean_ns, 16) << "15.5";
  EXPECT_EQ(open.slot_wait_p99_ns, 21);
  EXPECT_EQ(open.slot_wait_max_ns, 21);
  EXPECT_EQ(open.largest_burst, 5u);
  EXPECT_DOUBLE_EQ(open.outstanding_first_half, 3);
  EXPECT_DOUBLE_EQ(open.outstanding_second_half, 4.5);
  EXPECT_EQ(open.pacers, 2);
  EXPECT_EQ(open.margin_ns, 60'000);
  EXPECT_EQ(open.schedule_hash, 42u);
  EXPECT_NEAR(open.gap_cv.value(), 0, 1e-6);
}

}  // namespace
}  // namespace cqbench
