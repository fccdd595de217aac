// The reports of several ranks about a point, merged into one point.
#include "src/ranks/rank_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "cqbench/proto/measurement.pb.h"
#include "src/observe/sampling/sample.h"
#include "src/observe/sampling/sample_figures.h"
#include "src/ranks/rank_report.h"
#include "src/ranks/rank_warnings.h"

namespace cqbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Nanos kWindow = kNanosPerSecond;

class RankMergeTest : public testing::Test {
 protected:
  // Makes latencies around a different mean for each rank.
  static Measurement Measured(int rank, int calls) {
    std::mt19937_64 random(static_cast<uint64_t>(rank) + 1);
    Measurement m;
    m.window_ns = kWindow;
    m.completed = m.counts.due = m.counts.sent = m.counts.ok = static_cast<uint64_t>(calls);
    m.from_sent = std::make_unique<Histogram>();
    m.pacing = std::make_unique<Pacing>();
    m.pacing->outstanding[0] = {3, 2};
    m.schedule_hash = random();
    for (int i = 0; i < calls; ++i) {
      const Nanos latency = std::llround(std::lognormal_distribution(10.0 + rank, 1.0)(random));
      m.latency.Record(latency);
      m.from_sent->Record(latency / 2);
      m.pacing->lateness.Record(latency / 10);
    }
    m.failures.Add(14, absl::StrCat("of rank ", rank));
    m.completed_per_slot = {static_cast<uint64_t>(calls)};
    m.bucket_ns = kWindow / 2;
    m.time_buckets.resize(2);
    m.time_buckets[1].completed = static_cast<uint64_t>(calls);
    m.time_buckets[1].failed[14] = 1;
    m.time_buckets[1].latency.Record(10'000 * (rank + 1), static_cast<uint32_t>(calls));
    return m;
  }
  static PointResult Point(int rank, int count, double rate = 1000) {
    PointResult point;
    point.load = {1, rate};
    point.channels = point.expected_connections = 1;
    point.connections = 1;
    point.channels_of_thread = {{0}};
    point.start_time = absl::StrCat("2026-01-01T00:00:0", 9 - rank, "+00:00");
    point.figures.Set("client_cpu_user_ns", 1234.6);
    point.figures.Set("client_cpu_system_ns", 0.25);
    point.figures.Set("client_cores_used", 0.5);
    point.figures.Set("client_cpu_per_rpc_ns", 1.2);
    RankResult& who = point.rank.emplace();
    who.index = rank;
    who.count = count;
    who.host = "a";
    who.timing = RankTiming{0, 10, std::nullopt, 0, kWindow, 0, kWindow, 5, kWindow + 5};
    return point;
  }
  PointResult Merge(const std::vector<std::string>& by_rank) { return MergeRanks(by_rank, {}, setting_); }
  static std::vector<std::string> Codes(const PointResult& point) {
    std::vector<std::string> codes;
    for (const Notice& warning : point.warnings) codes.push_back(warning.code);
    return codes;
  }
  static std::string Reported(int rank, int count, int calls = 1000) {
    return EncodeRankReport(Point(rank, count), Measured(rank, calls), {});
  }

  RankSetting setting_;
};

TEST_F(RankMergeTest, AsIfOneHadMadeAllCalls) {
  Measurement all;
  for (int rank = 0; rank < 3; ++rank) all.Merge(Measured(rank, 1000));
  PointResult expected;
  Describe(all, expected);
  const PointResult merged = Merge({Reported(0, 3), Reported(1, 3), Reported(2, 3)});
  EXPECT_EQ(merged.latency_histogram, expected.latency_histogram);
  EXPECT_EQ(merged.open_loop->from_sent_histogram, expected.open_loop->from_sent_histogram);
  EXPECT_EQ(merged.latency->mean_ns, expected.latency->mean_ns);
  EXPECT_EQ(merged.latency->stddev_ns, expected.latency->stddev_ns);
  EXPECT_EQ(merged.latency->p99_ns, expected.latency->p99_ns);
  EXPECT_EQ(merged.latency->max_ns, expected.latency->max_ns);
  EXPECT_EQ(merged.open_loop->lateness_p99_ns, expected.open_loop->lateness_p99_ns);
  EXPECT_EQ(merged.open_loop->schedule_hash, expected.open_loop->schedule_hash);
  EXPECT_EQ(merged.completed, 3000u);
  EXPECT_EQ(merged.counts.due, 3000u);
  ASSERT_EQ(merged.errors.size(), 1u);
  EXPECT_EQ(merged.errors[0].count, 3u);
  EXPECT_EQ(merged.errors[0].first_message, "of rank 0");
  EXPECT_EQ(merged.completed_per_slot.size(), 3u);
}

TEST_F(RankMergeTest, FiguresPerCallAreWeightedByTheRanksCalls) {
  constexpr char kName[] = "client_voluntary_context_switches_per_rpc";
  const auto report = [&](int rank, int calls, double switches) {
    PointResult point = Point(rank, 2);
    point.figures.Set(kName, switches);
    return EncodeRankReport(point, Measured(rank, calls), {});
  };
  EXPECT_EQ(Merge({report(0, 1000, 1), report(1, 3000, 2)}).figures.Get(kName), 1.75);
}

TEST_F(RankMergeTest, QuotientsAreMadeOfTheSumsOfTheirParts) {
  const auto report = [&](int rank, int calls, const std::vector<std::pair<const char*, double>>& figures) {
    PointResult point = Point(rank, 2);
    for (const auto& [name, value] : figures) point.figures.Set(name, value);
    return EncodeRankReport(point, Measured(rank, calls), {});
  };
  const std::string first = report(0, 1000,
                                   {{"client_bytes_sent", 100'000},
                                    {"client_bytes_sent_per_rpc", 100},
                                    {"client_bytes_sent_per_payload_byte", 2},
                                    {"client_rpcs_per_segment_sent", 1},
                                    {"client_threads_workers", 1},
                                    {"client_workers_busy_share", 0.5},
                                    {"server_cpu_user_ns", 3000},
                                    {"server_cpu_system_ns", 1000},
                                    {"server_cpu_per_rpc_ns", 2},
                                    {"server_voluntary_context_switches_per_rpc", 0.5},
                                    {"server_rpcs_per_segment_sent", 2}});
  const std::vector<std::pair<const char*, double>> of_second = {{"client_bytes_sent", 900'000},
                                                                 {"client_bytes_sent_per_rpc", 300},
                                                                 {"client_bytes_sent_per_payload_byte", 3},
                                                                 {"client_rpcs_per_segment_sent", 2},
                                                                 {"client_threads_workers", 3},
                                                                 {"client_workers_busy_share", 0.9}};
  const Figures merged = Merge({first, report(1, 3000, of_second)}).figures;
  EXPECT_EQ(merged.Get("client_bytes_sent_per_rpc"), 250);
  EXPECT_DOUBLE_EQ(merged.Get("client_bytes_sent_per_payload_byte").value(), 1'000'000.0 / 350'000);
  EXPECT_DOUBLE_EQ(merged.Get("client_rpcs_per_segment_sent").value(), 4000.0 / 2500);
  EXPECT_DOUBLE_EQ(merged.Get("client_workers_busy_share").value(), 0.8);
  // The rank that asked the server divided by 2000 calls; all ranks completed 4000.
  EXPECT_EQ(merged.Get("server_cpu_per_rpc_ns"), 1);
  EXPECT_EQ(merged.Get("server_voluntary_context_switches_per_rpc"), 0.25);
  EXPECT_EQ(merged.Get("server_rpcs_per_segment_sent"), 4);

  const Figures lacking = Merge({first, report(1, 3000, {{"client_bytes_sent", 900'000}})}).figures;
  for (const char* name : {"client_bytes_sent_per_rpc", "client_bytes_sent_per_payload_byte",
                           "client_rpcs_per_segment_sent", "client_workers_busy_share"}) {
    EXPECT_EQ(lacking.Get(name), std::nullopt) << name;
  }
}

TEST_F(RankMergeTest, WhatIsAddedAndWhatIsMadeAgain) {
  const PointResult merged = Merge({Reported(0, 2), Reported(1, 2)});
  EXPECT_EQ(merged.load, (Load{2, 2000}));
  EXPECT_EQ(merged.connections, 2);
  EXPECT_EQ(merged.start_time, "2026-01-01T00:00:08+00:00");
  EXPECT_THAT(merged.channels_of_thread, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_EQ(merged.open_loop->outstanding_first_half, 3) << "1.5 at each of two";
  EXPECT_EQ(merged.figures.Get("client_cpu_user_ns"), 2470) << "of what the files have: 1235 each";
  EXPECT_EQ(merged.figures.Get("client_cores_used"), 1);
  EXPECT_EQ(merged.figures.Get("client_cpu_per_rpc_ns"), 2470.5 / 2000);
  ASSERT_EQ(merged.ranks->rows.size(), 2u);
  EXPECT_EQ(merged.ranks->rows[1].throughput_per_second, 1000);
  EXPECT_THAT(merged.warnings, IsEmpty());
  EXPECT_FALSE(merged.partial);
}

TEST_F(RankMergeTest, ARankThatSaysNothingIsMissing) {
  const PointResult merged = Merge({Reported(0, 3), "", Reported(2, 3)});
  EXPECT_THAT(merged.ranks->missing, ElementsAre(1));
  EXPECT_TRUE(merged.partial);
  ASSERT_THAT(Codes(merged), ElementsAre(kMissingRanks));
  EXPECT_EQ(merged.warnings[0].text,
            "rank 1 of 3 measured nothing: neither what they did nor their share of the load is in these figures");
}

TEST_F(RankMergeTest, ARankThatMeasuredNothingSaysWhy) {
  PointResult idle = Point(1, 2);
  idle.failure = "no connection";
  const PointResult merged = Merge({Reported(0, 2), EncodeRankReport(idle, {}, {})});
  EXPECT_THAT(merged.ranks->missing, ElementsAre(1));
  EXPECT_THAT(merged.notes, testing::Contains(Notice{"not-measured", "rank 1 measured nothing: no connection"}));
  EXPECT_EQ(merged.completed, 1000u);
}

// As a program with other buckets would write them.
TEST_F(RankMergeTest, OtherHistogramsAreNotAdded) {
  measured::v1::RankReport other;
  ASSERT_TRUE(other.ParseFromString(Reported(1, 2)));
  measured::v1::Histogram& latency = *other.mutable_measurement()->mutable_latency();
  latency.set_value_ns(0, latency.value_ns(0) - 1);
  const PointResult merged = Merge({Reported(0, 2), other.SerializeAsString()});
  EXPECT_EQ(merged.completed, 1000u);
  ASSERT_THAT(Codes(merged), ElementsAre(kMissingRanks, kMissingRanks));
  EXPECT_THAT(merged.warnings[1].text, HasSubstr("rank 1 is not merged: what it measured cannot be read"));
  EXPECT_THAT(merged.ranks->missing, ElementsAre(1));
}

TEST_F(RankMergeTest, ReportsReadBackAsThemselves) {
  const std::string bytes = Reported(1, 2);
  const auto report = DecodeRankReport(bytes);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(EncodeRankReport(report->point, report->measurement, report->setting), bytes);
}

TEST_F(RankMergeTest, TimeBucketsOfAllRanksMakeOneSeries) {
  const PointResult merged = Merge({Reported(0, 2), Reported(1, 2)});
  ASSERT_EQ(merged.time_buckets.size(), 2u);
  EXPECT_EQ(merged.bucket_ns, kWindow / 2);
  EXPECT_EQ(merged.time_buckets[1].completed, 2000u);
  EXPECT_EQ(merged.time_buckets[1].failed, 2u);
  EXPECT_EQ(merged.time_buckets[1].max_ns, 20'000);
  EXPECT_NEAR(static_cast<double>(merged.time_buckets[1].p50_ns), 10'000, 160)
      << "half of the calls took 10 us, half 20 us";
}

TEST_F(RankMergeTest, ARankWithFewerTimeBucketsLeavesNoSeries) {
  Measurement cut = Measured(1, 500);
  cut.time_buckets.resize(1);
  const PointResult merged = Merge({Reported(0, 2), EncodeRankReport(Point(1, 2), cut, {})});
  EXPECT_THAT(merged.time_buckets, IsEmpty());
  EXPECT_EQ(merged.completed, 1500u);
}

TEST_F(RankMergeTest, MediansAreOverTheConnectionsOfAllRanks) {
  const auto report = [](int rank, std::vector<double> trips) {
    PointResult point = Point(rank, 2);
    SetDistribution("client_rtt_min_ns", std::move(trips), point.figures);
    return EncodeRankReport(point, Measured(rank, 1000), {});
  };
  const Figures figures = Merge({report(0, {1, 2, 3, 4, 5}), report(1, {50, 90})}).figures;
  EXPECT_EQ(figures.Get("client_rtt_min_ns_min"), 1);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_median"), 4);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_max"), 90);
}

TEST_F(RankMergeTest, CpusOfAMachineAreCountedOnce) {
  const auto report = [](int rank, const std::string& host, std::vector<CpuShares> cpus) {
    PointResult point = Point(rank, 3);
    point.rank->host = host;
    point.client_cpus = std::move(cpus);
    return EncodeRankReport(point, Measured(rank, 1000), {});
  };
  const PointResult merged = Merge({report(0, "a", {{0, 0.5, 0.5, 0, 0}, {1, 0.25, 0.75, 0, 0}}),
                                    report(1, "a", {{1, 0.25, 0.75, 0, 0}}), report(2, "b", {{1, 1, 0, 0, 0}})});
  std::vector<int> cpus;
  for (const CpuShares& cpu : merged.client_cpus) cpus.push_back(cpu.cpu);
  EXPECT_THAT(cpus, ElementsAre(0, 1, 100'001));
  EXPECT_EQ(merged.figures.Get("client_cpus_allowed"), 3);
  EXPECT_EQ(merged.figures.Get("client_cpus_busy"), 1.75);
}

TEST_F(RankMergeTest, CallsThatNeverEndedAddUp) {
  const auto report = [](int rank, int calls) {
    Measurement m = Measured(rank, 1000);
    m.at_least = std::make_unique<Histogram>();
    m.at_least->Record(kNanosPerSecond, static_cast<uint64_t>(calls));
    m.counts.unfinished = static_cast<uint64_t>(calls);
    return EncodeRankReport(Point(rank, 2), m, {});
  };
  const PointResult merged = Merge({report(0, 4), report(1, 6)});
  EXPECT_EQ(merged.latency->at_least, 10u);
  EXPECT_EQ(merged.counts.unfinished, 10u);
  EXPECT_FALSE(merged.latency->KnowsMean());
}

TEST_F(RankMergeTest, FiguresThatAreNotMergedAreNamed) {
  PointResult point = Point(1, 2);
  point.figures.Set("breakdown_client_issue_p50_ns", 5);
  const PointResult merged = Merge({Reported(0, 2), EncodeRankReport(point, Measured(1, 1000), {})});
  EXPECT_THAT(merged.notes, ElementsAre(Notice{"not-measured",
                                               "not merged over ranks: arrival_gap_correlation, arrival_gap_variation, "
                                               "breakdown_client_issue_p50_ns"}));
}

TEST_F(RankMergeTest, DamagedReportsAreRefused) {
  const std::string whole = Reported(0, 1, 50);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeRankReport(absl::string_view(whole).substr(0, size)).ok()) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 5'000; ++i) {  // it must not crash or take much memory
    std::string damaged = whole;
    for (int n = 0; n < 3; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    DecodeRankReport(damaged).IgnoreError();
  }
}

TEST_F(RankMergeTest, FiguresThatCannotBeAreRefused) {
  const auto refused = [](const auto& change) {
    PointResult point = Point(0, 1);
    Measurement measurement = Measured(0, 10);
    change(point, measurement);
    return !DecodeRankReport(EncodeRankReport(point, measurement, {})).ok();
  };
  EXPECT_FALSE(refused([](PointResult&, Measurement&) {}));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.threads = -1; }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.channels = INT_MAX; }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.load.slots = 0; }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.load.rate = std::nan(""); }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.channels_of_thread = {{INT_MAX}}; }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.figures.Set("client_cores_used", HUGE_VAL); }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.rank->timing->window_open_ns = INT64_MIN; }));
  EXPECT_TRUE(refused([](PointResult&, Measurement& measurement) { measurement.pacing->pacers = INT_MIN; }));
  EXPECT_TRUE(refused([](PointResult&, Measurement& measurement) { measurement.window_ns = -1; }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.rank->index = 1; }));
  EXPECT_TRUE(refused([](PointResult& point, Measurement&) { point.client_cpus = {{INT_MAX, 0, 0, 0, 0}}; }));
  const int of_third_machine = 2 * kCpuIds + 3;
  EXPECT_FALSE(refused([&](PointResult& point, Measurement&) {
    point.server_cpus = {{of_third_machine, 0, 0, 0, 0}};
  }));
  EXPECT_TRUE(refused([&](PointResult& point, Measurement&) { point.client_cpus = {{of_third_machine, 0, 0, 0, 0}}; }));
}

TEST_F(RankMergeTest, WindowsThatLieApart) {
  PointResult late = Point(2, 3);
  late.rank->timing->window_open_ns = 30 * kNanosPerMilli;
  const PointResult merged = Merge({Reported(0, 3), Reported(1, 3), EncodeRankReport(late, Measured(2, 1000), {})});
  ASSERT_THAT(Codes(merged), ElementsAre(kWindowSkew));
  EXPECT_EQ(merged.warnings[0].text, "the ranks' windows opened up to 30 ms apart, 3.0% of it: rank 2 last");
  EXPECT_EQ(merged.ranks->skew_open_ns, 30 * kNanosPerMilli);
}

TEST_F(RankMergeTest, ARankFarOffTheOthers) {
  const PointResult merged = Merge({Reported(0, 3), Reported(1, 3), Reported(2, 3, 500)});
  ASSERT_THAT(Codes(merged), ElementsAre(kStraggler));
  EXPECT_EQ(merged.warnings[0].text,
            "rank 2 far off the others: its throughput for each call asked for is 50% below the ranks' median");
  EXPECT_EQ(merged.ranks->rows[2].warnings.size(), 1u);
}

// Their mean would move with the slower one, so that neither were far off.
TEST_F(RankMergeTest, OfTwoRanksTheSlowerOneIsFarOff) {
  const PointResult merged = Merge({Reported(0, 2), Reported(1, 2, 700)});
  ASSERT_THAT(Codes(merged), ElementsAre(kStraggler));
  EXPECT_EQ(merged.warnings[0].text,
            "rank 1 far off the others: its throughput for each call asked for is 30% below the ranks' median");
}

TEST_F(RankMergeTest, WhatRanksSayOfThemselves) {
  PointResult first = Point(0, 2), second = Point(1, 2);
  first.warnings = {{"steal", "the hypervisor took 3.1 %"}, {"other-client", "it saw its partner"}};
  second.warnings = {{"steal", "the hypervisor took 2 %"}};
  const PointResult merged = Merge({EncodeRankReport(first, Measured(0, 1000), {{{"cpu-scaling", "is on"}}, 5, 0}),
                                    EncodeRankReport(second, Measured(1, 1000), {{{"cpu-scaling", "is on"}}, 4, 0})});
  ASSERT_EQ(merged.warnings.size(), 1u);
  EXPECT_EQ(merged.warnings[0].text, "the hypervisor took 3.1 % (all 2 ranks)");
  EXPECT_EQ(setting_.warnings.size(), 1u);
  EXPECT_EQ(setting_.total_calls, 9u);
}

TEST(RankNames, AFewAndMany) {
  EXPECT_EQ(RankNames({3}), "rank 3");
  EXPECT_EQ(RankNames({0, 2, 5}), "ranks 0, 2 and 5");
  EXPECT_EQ(RankNames({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

}  // namespace
}  // namespace cqbench
