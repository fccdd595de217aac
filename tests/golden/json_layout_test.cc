// The JSON for its readers: it has Google Benchmark's keys, with the same meaning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "cqbench/reporter.h"
#include "tests/golden/samples.h"

namespace cqbench {
namespace {

using nlohmann::json;

json Parsed(const Result& result) {
  return json::parse(FormatJson(result));
}

// Returns the run at that in-flight count, also if it measured nothing.
json RunAt(const json& file, int inflight) {
  for (const char* list : {"benchmarks", "not_measured"}) {
    if (!file.contains(list)) continue;
    for (const json& run : file.at(list)) {
      if (run.at("inflight") == inflight) return run;
    }
  }
  ADD_FAILURE() << "no run with " << inflight << " in flight";
  return json::object();
}

TEST(JsonLayout, EveryFormatParses) {
  for (const Result& result : {SweepSample(), RepetitionsSample(), TroubleSample(), EmptySample(), OpenLoopSample(),
                               CensoredSample(), FoundRateSample()}) {
    const json file = Parsed(result);
    EXPECT_TRUE(file.at("context").is_object());
    EXPECT_TRUE(file.at("benchmarks").is_array());
  }
}

TEST(JsonLayout, OneOfSeveralClientsSaysWhichAndWhen) {
  Result result = SweepSample();
  EXPECT_FALSE(Parsed(result).at("benchmarks").at(0).contains("rank"));
  RankResult& rank = result.points.front().rank.emplace();
  rank.index = 2;
  rank.count = 8;
  rank.host = "client-3";
  rank.pid = 77;
  rank.cpus_allowed = "0-3";
  const json expected = {{"index", 2}, {"count", 8}, {"host", "client-3"}, {"pid", 77}, {"cpus_allowed", "0-3"}};
  EXPECT_EQ(Parsed(result).at("benchmarks").at(0).at("rank"), expected) << "no window was agreed on";
  rank.timing = RankTiming{-5, 40, std::nullopt, 1000, 2000, 1001, 2003, 1002, 2004};
  json with_times = expected;
  with_times.update({{"offset_ns", -5},
                     {"offset_bound_ns", 40},
                     {"announced_open_ns", 1000},
                     {"announced_close_ns", 2000},
                     {"window_open_ns", 1001},
                     {"window_close_ns", 2003},
                     {"awake_open_ns", 1002},
                     {"awake_close_ns", 2004}});
  EXPECT_EQ(Parsed(result).at("benchmarks").at(0).at("rank"), with_times) << "nothing could tell of a drift";
  rank.timing->drift_ns_per_s = -1.5;
  EXPECT_EQ(Parsed(result).at("benchmarks").at(0).at("rank").at("drift_ns_per_s"), -1.5);
  EXPECT_NE(FormatTable(result).find("rank 2 of 8: what this client did itself"), std::string::npos);
}

TEST(JsonLayout, RanksThatWereMerged) {
  Result result = SweepSample();
  EXPECT_FALSE(Parsed(result).at("benchmarks").at(0).contains("ranks"));
  RanksResult& ranks = result.points.front().ranks.emplace();
  ranks.count = 3;
  ranks.missing = {1};
  ranks.window_ns = 5000;
  ranks.skew_open_ns = 2000;
  for (const int index : {0, 2}) {
    RanksResult::Row& row = ranks.rows.emplace_back();
    row.rank.index = index;
    row.rank.host = "client-3";
    row.load = {4, 0};
    row.throughput_per_second = 100.5 + index;
  }
  ranks.rows[1].rank.timing = RankTiming{-5, 40'000, std::nullopt, 1000, 2000, 1001, 2003, 8001, 2003};
  ranks.rows[1].p99_ns = 1500;
  ranks.rows[1].cores_used = 0.5;
  ranks.rows[1].connections = 2;
  ranks.rows[1].warnings = {{"straggler", "it is"}};
  const json found = Parsed(result).at("benchmarks").at(0).at("ranks");
  EXPECT_EQ(found.at("missing"), json({1}));
  EXPECT_EQ(found.at("skew_open_ns"), 2000);
  const json unknown = {{"rank", 0},
                        {"host", "client-3"},
                        {"pid", 0},
                        {"inflight", 4},
                        {"throughput_per_second", 100.5},
                        {"completed", 0},
                        {"failed", 0},
                        {"connections", nullptr},
                        {"warnings", json::array()},
                        {"notes", json::array()},
                        {"partial", false}};
  EXPECT_EQ(found.at("per_rank").at(0), unknown);
  EXPECT_EQ(found.at("per_rank").at(1).at("window_close_ns"), 2003);
  EXPECT_EQ(found.at("per_rank").at(1).at("warnings").at(0).at("code"), "straggler");

  const std::string table = FormatTable(result);
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("without some of the ranks"))) << "nothing is partial";
  result.partial = true;
  EXPECT_THAT(FormatTable(result), testing::HasSubstr("before its end, or without some of the ranks\n"));
  EXPECT_THAT(table, testing::HasSubstr("3 ranks measured together; windows opened and closed at most 2 µs apart, by "
                                        "clocks that are known to 40.0 µs"));
  EXPECT_THAT(table, testing::ContainsRegex("\\| +0 \\| client-3 .* 100.50 \\| +- \\|"));
  EXPECT_THAT(table, testing::ContainsRegex("\\| +2 \\| client-3 .* 102.50 \\| +1.5 \\| +0.50 .*\\| straggler"));
  EXPECT_THAT(table, testing::ContainsRegex("\\| maximum \\|.* 102.50 "));
}

TEST(JsonLayoutDeathTest, EveryFigureIsInTheCatalogue) {
  Result result = SweepSample();
  result.points.front().figures.Set("client_threads_of_nobody", 1);
  EXPECT_DEBUG_DEATH(FormatJson(result), "FindFigure");
}

TEST(JsonLayout, ContextSaysWhereAndWithWhat) {
  const json context = Parsed(SweepSample()).at("context");
  for (const char* key :
       {"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "caches", "load_avg",
        "library_build_type", "affinity", "kernel", "grpc_version", "protobuf_version", "command_line"}) {
    EXPECT_TRUE(context.contains(key)) << key;
  }
  EXPECT_EQ(context.at("num_cpus"), 64);
  EXPECT_EQ(context.at("affinity"), "0-31,64");
  EXPECT_EQ(context.at("command_line").size(), 5u);
  EXPECT_EQ(context.at("partial"), false);
  EXPECT_EQ(Parsed(TroubleSample()).at("context").at("partial"), true);
}

TEST(JsonLayout, WhatTheMachineDoesNotSayIsLeftOut) {
  const json context = Parsed(TroubleSample()).at("context");
  EXPECT_FALSE(context.contains("mhz_per_cpu"));
  EXPECT_FALSE(context.contains("cpu_scaling_enabled"));
}

// compare.py reads both times of every entry of benchmarks[], marked as an error or not; if one entry has none, it
// reads nothing of the file.
TEST(JsonLayout, EveryRunHasTheKeysThatCompareNeeds) {
  for (const Result& result :
       {SweepSample(), RepetitionsSample(), TroubleSample(), OpenLoopSample(), QueueSample(), CensoredSample()}) {
    const json file = Parsed(result);
    for (const json& run : file.at("benchmarks")) {
      for (const char* key : {"name", "run_name", "run_type", "repetitions", "iterations", "time_unit", "threads",
                              "family_index", "per_family_instance_index"}) {
        EXPECT_TRUE(run.contains(key)) << key << " of " << run.at("name");
      }
      EXPECT_TRUE(run.contains("real_time") && run.at("real_time").is_number()) << run.at("name");
      EXPECT_TRUE(run.contains("cpu_time") && run.at("cpu_time").is_number()) << run.at("name");
      EXPECT_EQ(run.contains("repetition_index"), run.at("run_type") == "iteration");
      EXPECT_EQ(run.contains("aggregate_name"), run.at("run_type") == "aggregate");
    }
  }
}

TEST(JsonLayout, TimesArePerRpc) {
  const json run = RunAt(Parsed(SweepSample()), 48);
  EXPECT_EQ(run.at("name"), "ping/unary/cq/local-pool/inflight:48");
  EXPECT_EQ(run.at("run_name"), run.at("name"));
  EXPECT_EQ(run.at("iterations"), 2'000'001);
  EXPECT_EQ(run.at("time_unit"), "ns");
  EXPECT_DOUBLE_EQ(run.at("real_time").get<double>(), 10e9 / 2'000'001);
  EXPECT_DOUBLE_EQ(run.at("cpu_time").get<double>(), 24'000);
  EXPECT_DOUBLE_EQ(run.at("throughput_per_second").get<double>(), 200'000.1);
  EXPECT_EQ(run.at("latency_p50_ns"), 233'200);
  EXPECT_EQ(run.at("latency_p99_9_ns"), 1'999'900);
  EXPECT_EQ(run.at("latency_histogram").get<std::string>().substr(0, 8), "HISTFAAA");
  EXPECT_EQ(run.at("connections"), 48);
}

TEST(JsonLayout, RepetitionsAreRunsOfOneNameAndTheMedianIsAnAggregate) {
  const json runs = Parsed(RepetitionsSample()).at("benchmarks");
  std::set<int> repetitions_of_two;
  int medians = 0;
  for (const json& run : runs) {
    EXPECT_EQ(run.at("repetitions"), 3);
    if (run.at("run_type") == "aggregate") {
      ++medians;
      EXPECT_EQ(run.at("name"), run.at("run_name").get<std::string>() + "_median");
    } else if (run.at("inflight") == 2) {
      repetitions_of_two.insert(run.at("repetition_index").get<int>());
      EXPECT_EQ(run.at("name"), "echo/streaming/cq/pool:4/arena/generic/inflight:2");
    }
  }
  EXPECT_EQ(medians, 2);
  EXPECT_EQ(repetitions_of_two, (std::set<int>{0, 1, 2}));
}

TEST(JsonLayout, PointsThatMeasuredNothingSayWhyAndHaveNoLatencies) {
  const json file = Parsed(TroubleSample());
  for (int inflight : {2, 8}) {
    const json run = RunAt(file, inflight);
    EXPECT_EQ(run.at("error_occurred"), true);
    EXPECT_NE(run.at("error_message"), "");
    EXPECT_EQ(run.at("completed"), 0);
    EXPECT_FALSE(run.contains("latency_p50_ns"));
  }
  EXPECT_EQ(RunAt(file, 2).at("failed"), 4321);
}

TEST(JsonLayout, FiguresThatAreNotToBeHadAreLeftOut) {
  const json run = RunAt(Parsed(TroubleSample()), 4);
  EXPECT_FALSE(run.contains("error_occurred"));
  EXPECT_FALSE(run.contains("latency_p50_ns"));
  EXPECT_FALSE(run.contains("latency_histogram"));
  EXPECT_TRUE(run.at("connections").is_null());
}

TEST(JsonLayout, PointThatWasCutShortIsMarked) {
  EXPECT_EQ(RunAt(Parsed(TroubleSample()), 16).at("partial"), true);
  EXPECT_EQ(RunAt(Parsed(TroubleSample()), 1).at("partial"), false);
}

TEST(JsonLayout, ContextSaysWhatTheLoadWas) {
  const json closed = Parsed(SweepSample()).at("context"), open = Parsed(OpenLoopSample()).at("context");
  EXPECT_EQ(closed.at("loop"), "closed");
  EXPECT_EQ(open.at("loop"), "open");
  for (const char* key : {"arrivals", "at_limit", "pace", "schedule_seed"}) {
    EXPECT_FALSE(closed.contains(key)) << key;
    EXPECT_TRUE(open.contains(key)) << key;
  }
  EXPECT_FALSE(closed.contains("objective"));
  EXPECT_EQ(open.at("objective"), "p99<2ms,errors<0.1%");
  EXPECT_EQ(closed.at("shape"), "unary");
  EXPECT_FALSE(closed.contains("payload"));
  EXPECT_EQ(Parsed(RepetitionsSample()).at("context").at("payload"), "text");
}

TEST(JsonLayout, RatesAreRunsOfTheirOwn) {
  const json runs = Parsed(OpenLoopSample()).at("benchmarks");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs.at(1).at("name"), "ping/unary/cq/shared/open/rate:2000.5");
  EXPECT_EQ(runs.at(1).at("per_family_instance_index"), 1);
  EXPECT_EQ(runs.at(1).at("target_rate_per_second"), 2000.5);
  EXPECT_EQ(runs.at(1).at("inflight"), 4);
  EXPECT_EQ(runs.at(1).at("objective_met"), false);
}

// due = sent + dropped + unsent, sent = ok + failed + unfinished.
TEST(JsonLayout, CallsAddUp) {
  for (const Result& result : {SweepSample(), TroubleSample(), OpenLoopSample(), QueueSample(), CensoredSample()}) {
    const json file = Parsed(result);
    for (const char* list : {"benchmarks", "not_measured"}) {
      for (const json& run : file.at(list)) {
        if (run.at("run_type") == "aggregate") continue;
        const auto calls = [&](const char* key) { return run.at(key).get<int>(); };
        EXPECT_EQ(calls("calls_due"), calls("calls_sent") + calls("calls_dropped") + calls("calls_unsent"));
        EXPECT_EQ(calls("calls_sent"), calls("calls_ok") + calls("failed") + calls("unfinished"));
      }
    }
  }
}

TEST(JsonLayout, WarningsAndNotesHaveCodes) {
  const json run = Parsed(OpenLoopSample()).at("benchmarks").at(2);
  ASSERT_EQ(run.at("warnings").size(), 1u);
  EXPECT_EQ(run.at("warnings").at(0).at("code"), "pacer-late");
  EXPECT_NE(run.at("warnings").at(0).at("text"), "");
  ASSERT_EQ(run.at("notes").size(), 2u);
  EXPECT_EQ(run.at("notes").at(0).at("code"), "client-cpu-saturated");
  EXPECT_EQ(run.at("notes").at(1).at("code"), "slots-saturated");
}

TEST(JsonLayout, WhatCallsWithoutAnEndCouldChangeIsLeftOut) {
  const json few = RunAt(Parsed(CensoredSample()), 1), many = RunAt(Parsed(CensoredSample()), 4);
  EXPECT_EQ(few.at("latency_censored"), 1);
  EXPECT_TRUE(few.contains("latency_p99_ns"));
  EXPECT_FALSE(few.contains("latency_max_ns"));
  EXPECT_FALSE(few.contains("latency_mean_ns"));
  EXPECT_EQ(many.at("latency_censored"), 30);
  EXPECT_TRUE(many.contains("latency_p95_ns"));
  EXPECT_FALSE(many.contains("latency_p99_ns"));
  EXPECT_FALSE(RunAt(Parsed(CensoredSample()), 8).contains("latency_min_ns"));
}

TEST(JsonLayout, FoundRateIsThereOnlyWhenItIsFound) {
  const json found = Parsed(FoundRateSample()).at("find_rate"),
             not_found = Parsed(UnresolvedRateSample()).at("find_rate");
  for (const char* key : {"rate_per_second", "low", "high"}) {
    EXPECT_TRUE(found.contains(key)) << key;
    EXPECT_FALSE(not_found.contains(key)) << key;
  }
  EXPECT_FALSE(found.contains("unresolved_reason"));
  EXPECT_EQ(not_found.at("unresolved_reason"), "the client could not send faster than 4000/s");
  EXPECT_EQ(not_found.at("trials").at(1).at("client_fault"), true);
  EXPECT_EQ(not_found.at("trials").at(1).at("rate_per_second"), 8000.5);
  EXPECT_FALSE(Parsed(SweepSample()).contains("find_rate"));
}

TEST(JsonLayout, ErrorsCarryCodeCountAndFirstMessage) {
  const json errors = RunAt(Parsed(TroubleSample()), 1).at("errors");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors.at(0).at("code"), "UNAVAILABLE");
  EXPECT_EQ(errors.at(0).at("count"), 120);
  EXPECT_EQ(errors.at(0).at("first_message"),
            "failed to connect to all addresses; last error: \"Connection refused\", 111");
}

}  // namespace
}  // namespace cqbench
