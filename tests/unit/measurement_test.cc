// Measurements of threads and of processes merge into one. The histograms of time buckets are as exact as promised.
#include "cqbench/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "src/result/measurement_message.h"

namespace cqbench {
namespace {

using testing::ElementsAre;

// Every field has a value that depends on `n`.
Measurement Full(uint64_t n) {
  const auto ns = static_cast<Nanos>(n);
  Measurement m;
  m.window_ns = 1000 * ns;
  m.completed = n;
  m.counts = {10 * n, 20 * n, 30 * n, 40 * n, 50 * n, 60 * n, 70 * n};
  m.latency.Record(ns, n);
  for (auto* ages : {&m.from_sent, &m.at_least, &m.at_least_from_sent}) {
    *ages = std::make_unique<Histogram>();
    (*ages)->Record(ns, n);
  }
  for (uint64_t i = 0; i < n; ++i) m.failures.Add(14, n == 1 ? "of one" : "of another");
  m.bucket_ns = 100;
  m.time_buckets.resize(2);
  m.time_buckets[1].completed = n;
  m.time_buckets[1].failed[14] = static_cast<uint32_t>(2 * n);
  m.time_buckets[1].latency.Record(ns);
  m.parts = std::make_unique<PartTimes>();
  m.parts->issue.Record(ns);
  m.parts->wait.Record(2 * ns);
  m.pacing = std::make_unique<Pacing>();
  m.pacing->lateness.Record(ns);
  m.pacing->slot_wait.Record(ns);
  m.pacing->largest_burst = n;
  m.pacing->outstanding = {Pacing::Outstanding{4.0 * static_cast<double>(n), n}, Pacing::Outstanding{2, n}};
  m.pacing->pacers = static_cast<int>(n);
  m.pacing->margin_ns = ns;
  m.schedule_hash = n << 8;
  m.completed_per_slot = {n, n + 1};
  return m;
}

TEST(Measurement, MergeAddsEverything) {
  Measurement total = Full(1);
  total.Merge(Full(2));
  EXPECT_EQ(total.window_ns, 2000);
  EXPECT_EQ(total.completed, 3u);
  EXPECT_EQ(total.counts.due, 30u);
  EXPECT_EQ(total.counts.sent, 60u);
  EXPECT_EQ(total.counts.dropped, 90u);
  EXPECT_EQ(total.counts.unsent, 120u);
  EXPECT_EQ(total.counts.ok, 150u);
  EXPECT_EQ(total.counts.failed, 180u);
  EXPECT_EQ(total.counts.unfinished, 210u);
  for (const Histogram* merged :
       {&total.latency, total.from_sent.get(), total.at_least.get(), total.at_least_from_sent.get()}) {
    EXPECT_EQ(merged->Count(), 3u);
    EXPECT_EQ(merged->Min(), 1);
    EXPECT_EQ(merged->Max(), 2);
  }
  EXPECT_EQ(total.failures.count[14], 3u);
  EXPECT_EQ(total.failures.first_message[14], "of one");
  EXPECT_EQ(total.bucket_ns, 100);
  ASSERT_EQ(total.time_buckets.size(), 2u);
  EXPECT_EQ(total.time_buckets[0].completed, 0u);
  EXPECT_EQ(total.time_buckets[1].completed, 3u);
  EXPECT_EQ(total.time_buckets[1].failed[14], 6u);
  EXPECT_EQ(total.time_buckets[1].failed[4], 0u);
  EXPECT_EQ(total.time_buckets[1].latency.Count(), 2u);
  EXPECT_EQ(total.time_buckets[1].latency.Max(), 2);
  EXPECT_EQ(total.parts->issue.Count(), 2u);
  EXPECT_EQ(total.parts->wait.Max(), 4);
  EXPECT_EQ(total.pacing->lateness.Count(), 2u);
  EXPECT_EQ(total.pacing->slot_wait.Count(), 2u);
  EXPECT_EQ(total.pacing->largest_burst, 2u);
  EXPECT_EQ(total.pacing->outstanding[0].Mean(), 4);
  EXPECT_EQ(total.pacing->outstanding[1].samples, 3u);
  EXPECT_EQ(total.pacing->pacers, 3);
  EXPECT_EQ(total.pacing->margin_ns, 2);
  EXPECT_EQ(total.schedule_hash, 0x300u);
  EXPECT_THAT(total.completed_per_slot, ElementsAre(1, 2, 2, 3));
}

TEST(Measurement, MergedIntoAnEmptyOneIsTheSame) {
  Measurement total;
  total.Merge(Full(3));
  EXPECT_EQ(total.window_ns, 3000);
  EXPECT_EQ(total.counts.unfinished, 210u);
  EXPECT_EQ(total.at_least_from_sent->Count(), 3u);
  EXPECT_EQ(total.time_buckets.at(1).latency.Max(), 3);
  EXPECT_EQ(total.pacing->pacers, 3);
  EXPECT_EQ(total.schedule_hash, 0x300u);
  EXPECT_EQ(total.failures.first_message[14], "of another");
}

TEST(Measurement, NothingChangesWhatItIsMergedWith) {
  Measurement total = Full(2);
  total.Merge(Measurement());
  EXPECT_EQ(total.window_ns, 2000);
  EXPECT_EQ(total.counts.due, 20u);
  EXPECT_EQ(total.time_buckets.size(), 2u);
  EXPECT_EQ(total.bucket_ns, 100);
  EXPECT_EQ(total.schedule_hash, 0x200u);
}

TEST(Measurement, WhatNeitherHasStaysAbsent) {
  Measurement total;
  total.Merge(Measurement());
  EXPECT_EQ(total.from_sent, nullptr);
  EXPECT_EQ(total.at_least, nullptr);
  EXPECT_EQ(total.at_least_from_sent, nullptr);
  EXPECT_EQ(total.parts, nullptr);
  EXPECT_EQ(total.pacing, nullptr);
}

TEST(MeasurementMessage, ReadsBackAsWhatItIs) {
  const auto message = ToMessage(Full(3));
  const auto read = FromMessage(message);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToMessage(*read).SerializeAsString(), message.SerializeAsString());
  Measurement total = Full(1);
  total.Merge(*read);
  EXPECT_EQ(total.counts.unfinished, 280u);
  EXPECT_EQ(total.latency.Sum(), 10u);
  EXPECT_EQ(total.at_least_from_sent->Max(), 3);
  EXPECT_EQ(total.failures.count[14], 4u);
  EXPECT_EQ(total.time_buckets.at(1).failed[14], 8u);
  EXPECT_EQ(total.time_buckets.at(1).latency.Count(), 2u);
  EXPECT_EQ(total.time_buckets.at(1).latency.Max(), 3);
  EXPECT_EQ(total.pacing->outstanding[0].samples, 4u);
  EXPECT_EQ(total.schedule_hash, 0x200u);
  EXPECT_THAT(total.completed_per_slot, ElementsAre(1, 2, 3, 4));
}

TEST(MeasurementMessage, WhatNoClientMeasuresIsRefused) {
  using Message = measured::v1::Measurement;
  const std::vector<std::pair<const char*, void (*)(Message&)>> kWrong = {
      {"a window below zero", [](Message& m) { m.set_window_ns(-1); }},
      {"other buckets", [](Message& m) { m.mutable_latency()->set_value_ns(0, 4096); }},
      {"fewer counts than values", [](Message& m) { m.mutable_latency()->clear_count(); }},
      {"an empty bucket", [](Message& m) { m.mutable_latency()->set_count(0, 0); }},
      {"a minimum that is in no bucket", [](Message& m) { m.mutable_latency()->set_min_ns(1); }},
      {"a value below zero", [](Message& m) { m.mutable_from_sent()->set_value_ns(0, -1); }},
      {"a status that there is not", [](Message& m) { m.mutable_failures(0)->set_code(kNumOutcomes); }},
      {"other statuses", [](Message& m) { m.mutable_buckets(1)->add_failed(1); }},
      {"too many time buckets",
       [](Message& m) {
         for (int i = 0; i < 2000; ++i) m.add_buckets();
       }},
      {"a third half", [](Message& m) { m.mutable_pacing()->add_outstanding(); }},
      {"pacers below zero", [](Message& m) { m.mutable_pacing()->set_pacers(-1); }},
      {"what is no number", [](Message& m) { m.mutable_pacing()->mutable_outstanding(0)->set_sum(NAN); }},
  };
  for (const auto& [what, change] : kWrong) {
    auto message = ToMessage(Full(3));
    change(message);
    EXPECT_FALSE(FromMessage(message).ok()) << what;
  }
}

TEST(Pacing, MergedGapsAreThoseOfBothAndNoneInBetween) {
  Pacing a, b;
  for (Nanos i = 0; i <= 100; ++i) {
    a.gaps.Add(1000 * i);
    b.gaps.Add(1'000'000'000 + 1000 * i);
  }
  a.Merge(b);
  ASSERT_TRUE(a.gaps.Shape().has_value());
  EXPECT_NEAR(a.gaps.Shape()->variation, 0, 1e-9)
      << "a gap from one's times to the other's would be a million gaps long";
}

TEST(Failures, MessagesOfTheNetworkAreOneShortLine) {
  Failures failures;
  failures.Add(13, "a\nb\tc\x1b[31m\x7f" + std::string(1000, 'x'));
  EXPECT_EQ(failures.first_message[13].substr(0, 12), "a b c [31m x");
  EXPECT_EQ(failures.first_message[13].size(), 300u);
}

TEST(Failures, CodesThatNobodyKnowsAreCountedAsUnknown) {
  Failures failures;
  failures.Add(99, "odd");
  failures.Add(-1, "odder");
  EXPECT_EQ(failures.count[2], 2u);
  EXPECT_EQ(failures.first_message[2], "odd");
}

TEST(Failures, MergingKeepsTheFirstMessageOfWhoeverHasOne) {
  Failures ours, theirs;
  ours.Add(14, "ours");
  theirs.Add(14, "theirs");
  theirs.Add(kBadResponse, "wrong size");
  ours.Merge(theirs);
  EXPECT_EQ(ours.first_message[14], "ours");
  EXPECT_EQ(ours.first_message[kBadResponse], "wrong size");
  EXPECT_EQ(ours.Total(), 3u);
}

TEST(OutcomeName, IsCanonicalAndUnknownOutsideTheRange) {
  EXPECT_EQ(OutcomeName(0), "OK");
  EXPECT_EQ(OutcomeName(1), "CANCELLED");
  EXPECT_EQ(OutcomeName(4), "DEADLINE_EXCEEDED");
  EXPECT_EQ(OutcomeName(8), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(OutcomeName(12), "UNIMPLEMENTED");
  EXPECT_EQ(OutcomeName(14), "UNAVAILABLE");
  EXPECT_EQ(OutcomeName(16), "UNAUTHENTICATED");
  EXPECT_EQ(OutcomeName(kBadResponse), "BAD_RESPONSE");
  EXPECT_EQ(OutcomeName(-1), "UNKNOWN");
  EXPECT_EQ(OutcomeName(kNumOutcomes), "UNKNOWN");
}

constexpr double kTimeBucketError = 1.0 / 64;  // 1.6 %

TEST(CoarseHistogram, IsEmptyAtFirst) {
  const CoarseHistogram histogram;
  EXPECT_EQ(histogram.Count(), 0u);
  EXPECT_EQ(histogram.Max(), 0);
  EXPECT_EQ(histogram.ValueAtPercentile(99), 0);
}

TEST(CoarseHistogram, ValuesBelow128NanosecondsAreExact) {
  for (Nanos value = 0; value < 128; ++value) {
    CoarseHistogram histogram;
    histogram.Record(value);
    histogram.Record(1'000'000);
    EXPECT_EQ(histogram.ValueAtPercentile(50), value);
  }
}

// The maximum would hide the error of a single value, so there is a larger value, too.
TEST(CoarseHistogram, APercentileIsAtMostThatMuchTooHighAndNeverTooLow) {
  double worst = 0;
  for (double exact = 128; exact < 137e9; exact *= 1.0037) {
    for (const Nanos value : {static_cast<Nanos>(exact), Nanos{1} << static_cast<int>(std::log2(exact)),
                              (Nanos{2} << static_cast<int>(std::log2(exact))) - 1}) {
      CoarseHistogram histogram;
      histogram.Record(value);
      histogram.Record(Nanos{1} << 40);
      const Nanos reported = histogram.ValueAtPercentile(50);
      ASSERT_GE(reported, value);
      worst = std::max(worst, static_cast<double>(reported - value) / static_cast<double>(value));
    }
  }
  EXPECT_LE(worst, kTimeBucketError);
  EXPECT_GT(worst, kTimeBucketError / 2) << "the search has not found the widest buckets";
}

TEST(CoarseHistogram, TheMaximumIsExactEvenPastTheLastBucket) {
  for (Nanos value : {Nanos{999'999'937}, Histogram::kMaxTrackableNs, Histogram::kMaxTrackableNs + 1, Nanos{1} << 50}) {
    CoarseHistogram histogram;
    histogram.Record(value);
    EXPECT_EQ(histogram.Max(), value);
    EXPECT_EQ(histogram.Count(), 1u);
  }
}

TEST(CoarseHistogram, NoPercentileIsAboveTheMaximum) {
  CoarseHistogram histogram;
  histogram.Record(1'000'001);
  EXPECT_EQ(histogram.ValueAtPercentile(50), 1'000'001);
  EXPECT_EQ(histogram.ValueAtPercentile(100), 1'000'001);
}

TEST(CoarseHistogram, ValuesBelowZeroCountAsZero) {
  CoarseHistogram histogram;
  histogram.Record(-5);
  EXPECT_EQ(histogram.Count(), 1u);
  EXPECT_EQ(histogram.Max(), 0);
  EXPECT_EQ(histogram.ValueAtPercentile(50), 0);
}

TEST(CoarseHistogram, PercentilesAreNearestRank) {
  CoarseHistogram histogram;
  for (Nanos value = 1; value <= 100; ++value) histogram.Record(value);
  EXPECT_EQ(histogram.ValueAtPercentile(0.1), 1);
  EXPECT_EQ(histogram.ValueAtPercentile(50), 50);
  EXPECT_EQ(histogram.ValueAtPercentile(99), 99);
  EXPECT_EQ(histogram.ValueAtPercentile(99.1), 100);
}

TEST(CoarseHistogram, MergingIsRecordingAllInOne) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> latency(11.5, 1.5);
  CoarseHistogram total, all, one, other;
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<Nanos>(latency(random));
    (i % 3 == 0 ? one : other).Record(value);
    all.Record(value);
  }
  total.Merge(one);
  total.Merge(CoarseHistogram());
  total.Merge(other);
  EXPECT_EQ(total.Count(), all.Count());
  EXPECT_EQ(total.Max(), all.Max());
  for (double percent = 0.5; percent <= 100; percent += 0.5) {
    EXPECT_EQ(total.ValueAtPercentile(percent), all.ValueAtPercentile(percent)) << percent;
  }
}

}  // namespace
}  // namespace cqbench
