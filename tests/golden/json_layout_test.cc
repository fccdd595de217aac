// The JSON as its readers see it: Google Benchmark's keys are there and mean what they mean there.
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

// The run at that in-flight count, wherever the layout puts runs that measured nothing.
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
  for (const Result& result : {SweepSample(), RepetitionsSample(), TroubleSample(), EmptySample()}) {
    const json file = Parsed(result);
    EXPECT_TRUE(file.at("context").is_object());
    EXPECT_TRUE(file.at("benchmarks").is_array());
  }
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

// compare.py takes both times of every entry of benchmarks[] without asking, marked as an error or not; one entry
// without them and it reads nothing of the file.
TEST(JsonLayout, EveryRunHasTheKeysThatCompareNeeds) {
  for (const Result& result : {SweepSample(), RepetitionsSample(), TroubleSample()}) {
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
      EXPECT_EQ(run.at("name"), "echo/streaming/cq/pool:4/inflight:2");
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
