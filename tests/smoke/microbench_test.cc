// The microbenchmarks: each runs once without an error, and the hot path does not allocate.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "cqbench/method_info.h"
#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

using testing::HasSubstr;

ClientRun RunSuite(const Flags& flags) {
  Process process(Flags{CQBENCH_MICROBENCH} + flags);
  return Finish(process, 2 * kPatience);
}

// Returns the names that the program lists.
std::vector<std::string> Listed() {
  const ClientRun run = RunSuite({"--benchmark_list_tests"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Lines(run.out);
}

class MicrobenchTest : public testing::Test {
 protected:
  // Runs all benchmarks once, for a few iterations each, and stores results by name.
  static void SetUpTestSuite() {
    const ClientRun run = RunSuite({"--benchmark_min_time=0.00001", "--benchmark_format=json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json parsed = run.Parsed();
    for (const Json& benchmark : parsed.at("benchmarks")) (*results_)[benchmark.at("name")].push_back(benchmark);
  }
  static void TearDownTestSuite() { results_->clear(); }

  static std::map<std::string, std::vector<Json>>* const results_;
};

std::map<std::string, std::vector<Json>>* const MicrobenchTest::results_ = new std::map<std::string, std::vector<Json>>;

TEST_F(MicrobenchTest, EachRunsOnceAndWell) {
  const std::vector<std::string> listed = Listed();
  EXPECT_EQ(std::set(listed.begin(), listed.end()).size(), listed.size()) << "a name is there twice";
  EXPECT_EQ(results_->size(), listed.size());
  for (const std::string& name : listed) {
    SCOPED_TRACE(name);
    const auto found = results_->find(name);
    ASSERT_NE(found, results_->end());
    ASSERT_EQ(found->second.size(), 1u);
    const Json& result = found->second.front();
    EXPECT_FALSE(result.value("error_occurred", false)) << result;
    EXPECT_GT(result.value("real_time", 0.0), 0) << result;
    EXPECT_GE(result.value("iterations", 0), 1) << result;
  }
}

TEST_F(MicrobenchTest, EveryMethodHasItsCallsAndEveryWorkloadItsMessages) {
  const auto any = [](const std::string& prefix) {
    return std::any_of(results_->begin(), results_->end(),
                       [&](const auto& result) { return result.first.rfind(prefix, 0) == 0; });
  };
  for (const MethodInfo& method : AllMethodInfos()) {
    const std::string path = method.workload + "/" + method.name;
    for (const char* server : {"cq", "callback", "sync", "generic"}) {
      EXPECT_TRUE(any(std::string(ToString(method.shape)) + "/inprocess/" + path + "/" + server)) << path;
    }
    if (method.shape == Shape::kUnary || method.shape == Shape::kBidi) {
      EXPECT_TRUE(any(std::string(ToString(method.shape)) + "/one-thread/" + path)) << path;
    }
    EXPECT_TRUE(any("serialize/" + method.workload + "/")) << path;
    EXPECT_TRUE(any("parse/" + method.workload + "/")) << path;
  }
}

// Checks the rule of the hot path; benchmarks that do allocate prove that counting works.
TEST_F(MicrobenchTest, WhatIsOnTheHotPathDoesNotAllocate) {
  if (!results_->at("clock/read").front().contains("allocs_per_iter")) {
    GTEST_SKIP() << "built without CQBENCH_BUILD_ALLOCATION_COUNTING";
  }
  const auto allocations = [](const std::string& name) -> double {
    return results_->at(name).front().at("allocs_per_iter");
  };
  for (const char* name :
       {"clock/read", "recorder/success/closed-loop", "recorder/success/closed-loop/time-series",
        "recorder/success/open-loop/time-series", "histogram/record", "histogram/merge", "slot/cancel-gate",
        "arrival-queue/pass", "gap-meter/add", "pacer/wait-for-the-past",
        "serialize/ping/unary/request/reused/protobuf", "parse/echo/unary/request/reused/protobuf/1KiB",
        "serialize/echo/unary/request/reused/protobuf/16KiB", "transcode/match/1000",
        "transcode/find/GetBook/descriptor", "transcode/find/GetBook/handwritten"}) {
    EXPECT_EQ(allocations(name), 0) << name;
  }
  EXPECT_EQ(allocations("pacer/send"), 1) << "the schedule's copy, for a thousand calls";
  EXPECT_EQ(allocations("buffer/copy/64KiB/slices:1"), 1);
  EXPECT_GE(allocations("parse/echo/unary/request/fresh/protobuf/1KiB"), 1) << "the payload";
  EXPECT_GE(allocations("unary/one-thread/ping/unary"), 1);
}

// Repetitions run in an order of their own and go into a file, as for a comparison.
TEST(MicrobenchUsageTest, EachRepetitionHasItsAllocations) {
  const std::string path = testing::TempDir() + "/microbench-" + std::to_string(getpid()) + ".json";
  const ClientRun run = RunSuite(
      {"--benchmark_min_time=0.00001", "--benchmark_repetitions=5", "--benchmark_enable_random_interleaving=true",
       "--benchmark_filter=^(histogram/merge|buffer/copy/64KiB/slices:1)$", "--benchmark_out=" + path});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::ifstream file(path);
  const Json written = Json::parse(file);
  std::remove(path.c_str());
  int repetitions = 0;
  for (const Json& result : written.at("benchmarks")) {
    if (result.at("run_type") != "iteration") continue;
    ++repetitions;
    if (!result.contains("allocs_per_iter")) continue;
    const int each = result.at("run_name") == "histogram/merge" ? 0 : 1;
    EXPECT_EQ(result.at("allocs_per_iter"), each) << result;
    EXPECT_GE(result.at("total_allocated_bytes"), 16 * each) << result;
    EXPECT_LE(result.at("total_allocated_bytes"), 16 * 4096 * each) << result;
    EXPECT_GE(result.at("max_bytes_used"), each) << result;
    EXPECT_LE(result.at("max_bytes_used"), 4096 * each) << result;
  }
  EXPECT_EQ(repetitions, 2 * 5);
}

TEST(MicrobenchUsageTest, WrongFlagsAndFiltersThatMatchNothing) {
  const ClientRun flag = RunSuite({"--benchmark_no_such_flag"});
  EXPECT_EQ(flag.exit_code, 2);
  EXPECT_THAT(flag.err, HasSubstr("--benchmark_no_such_flag"));
  const ClientRun filter = RunSuite({"--benchmark_filter=no/such/name"});
  EXPECT_EQ(filter.exit_code, 1);
  EXPECT_THAT(filter.err, HasSubstr("no/such/name"));
}

}  // namespace
}  // namespace cqbench::smoke
