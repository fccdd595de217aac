// Flags of the load level and its schedule.
#include "src/cli/client/load_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/client_line.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

const Arguments kNotInflightCounts = {"0",    "-1",  "100001", "2147483648", "99999999999999999999",
                                      "many", "1.5", "1e3",    "10k"};
const Arguments kNotRates = {"0", "-1", "10000001", "nan", "inf", "fast", "10k"};

TEST(LoadFlags, InflightListAndStep) {
  const auto slots = [](const std::string& line) {
    std::vector<int> slots_of_points;
    for (const Load& load : Options(line).run.points) {
      EXPECT_FALSE(load.open());
      slots_of_points.push_back(load.slots);
    }
    return slots_of_points;
  };
  EXPECT_THAT(slots("--inflight-list 1,2,4,8"), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(slots("--min-inflight 1 --max-inflight 10 --inflight-step 4"), ElementsAre(1, 5, 9, 10));
  EXPECT_THAT(slots("--max-inflight 3"), ElementsAre(1, 2, 3));
  EXPECT_THAT(slots("--min-inflight 31"), ElementsAre(31, 32));
  EXPECT_THAT(slots("--min-inflight 5 --max-inflight 5"), ElementsAre(5));
}

TEST(LoadFlags, InflightErrors) {
  for (const char* flag : {"--inflight", "--min-inflight", "--max-inflight", "--inflight-step"}) {
    RefusedValues(flag, kNotInflightCounts);
  }
  for (const std::string& value : kNotInflightCounts)
    Refused({"--inflight-list", "1," + value}, {"--inflight-list", value});
  Refused({"--inflight-list", "1,,2"}, {"--inflight-list"});
  Refused({"--inflight-list", ","}, {"--inflight-list"});
  Refused(Split("--min-inflight 9 --max-inflight 8"), {"--max-inflight", "8", "--min-inflight", "9"});
  Refused(Split("--min-inflight 33"), {"--max-inflight", "32", "--min-inflight", "33"});
}

TEST(LoadFlags, Total) {
  EXPECT_EQ(Options("").run.total, 0u);
  EXPECT_EQ(Options("--total 1000 --inflight-list 1,2").run.total, 1000u);
  RefusedValues("--total", {"0", "-1", "1e3", "10k", "many", "1000000000001"});
  Refused(Split("--rate 100 --total 5"), {"--total", "closed loop", "--interval"});
  Refused(Split("--find-rate p99<1ms --total 5"), {"--total"});
}

// ghz counts in the same way: the first 10 of 1000 calls are skipped, and 990 are measured.
TEST(LoadFlags, SkipFirst) {
  EXPECT_EQ(Options("").run.skip_first, 0u);
  EXPECT_EQ(Options("--skip-first 10").run.skip_first, 10u);
  EXPECT_EQ(Options("--skip-first 10").run.total, 0u);
  EXPECT_EQ(Options("--total 1000 --skip-first 10").run.skip_first, 10u);
  EXPECT_EQ(Options("--total 1000 --skip-first 10").run.total, 990u);
  RefusedValues("--skip-first", {"0", "-1", "1e3"});
  Refused(Split("--total 10 --skip-first 10"), {"--skip-first", "10", "--total 10"});
  Refused(Split("--rate 100 --skip-first 5"), {"--skip-first", "closed loop", "--warmup"});
}

TEST(LoadFlags, PointsGivenTwice) {
  Refused(Split("--inflight 1 --max-inflight 2"), {"--inflight", "--max-inflight"});
  Refused(Split("--inflight 1 --min-inflight 2"), {"--inflight", "--min-inflight"});
  Refused(Split("--inflight 1 --inflight-list 2"), {"--inflight", "--inflight-list"});
  Refused(Split("--max-inflight 1 --inflight-list 2"), {"--max-inflight", "--inflight-list"});
  Refused(Split("--inflight-step 1 --inflight-list 2"), {"--inflight-step", "--inflight-list"});
  Refused(Split("--inflight 1 --inflight 2"), {"--inflight"});
  Refused(Split("--rate 1 --rate-list 2"), {"--rate", "--rate-list"});
  Refused(Split("--rate 1 --max-rate 2"), {"--rate", "--max-rate"});
  Refused(Split("--rate-list 1 --rate-step 2"), {"--rate-list", "--rate-step"});
}

TEST(LoadFlags, RatesMakeAnOpenLoop) {
  EXPECT_THAT(Options("--rate 2000").run.points, ElementsAre(Load{100, 2000}));
  EXPECT_THAT(Options("--rate 0.5").run.points, ElementsAre(Load{100, 0.5}));
  EXPECT_THAT(Options("--rate-list 1e3,2500 --max-outstanding 7").run.points,
              ElementsAre(Load{7, 1000}, Load{7, 2500}));
  EXPECT_THAT(Options("--min-rate 1000 --max-rate 3000 --rate-step 1500").run.points,
              ElementsAre(Load{100, 1000}, Load{100, 2500}, Load{100, 3000}));
}

TEST(LoadFlags, RateErrors) {
  for (const char* flag : {"--rate", "--rate-list", "--min-rate", "--max-rate", "--rate-step"}) {
    RefusedValues(flag, kNotRates);
  }
  Refused(Split("--rate 1000,2000"), {"--rate", "1000,2000", "--rate-list"});
  Refused(Split("--rate-list 5,5"), {"--rate-list", "5"});
  Refused(Split("--min-rate 9 --max-rate 8 --rate-step 1"), {"--max-rate", "8", "--min-rate", "9"});
  Refused(Split("--min-rate 1 --max-rate 20000 --rate-step 1"), {"--rate-step", "1 makes 20000 points", "10000"});
  Refused(Split("--max-rate 100"), {"--max-rate", "--min-rate", "--rate-step"});
  Refused(Split("--min-rate 10 --max-rate 100"), {"--min-rate", "--rate-step"});
  Refused(Split("--rate-step 10"), {"--rate-step", "--min-rate"});
}

// 1 s of warm-up and 10 s of window by default.
TEST(LoadFlags, SchedulesThatDoNotFitIntoMemoryAreRefused) {
  EXPECT_THAT(Options("--rate 9000000").run.points, SizeIs(1));
  Refused(Split("--rate 9500000"), {"--rate", "9500000", "11 s"});
  Refused(Split("--rate-list 1,9500000"), {"--rate-list", "9500000"});
  Refused(Split("--rate 30000 --interval 1h"), {"--rate", "30000", "3601 s"});
}

TEST(LoadFlags, Schedules) {
  const ScheduleConfig usual = Options("--rate 1").run.schedule;
  EXPECT_EQ(usual.arrivals, Arrivals::kPoisson);
  EXPECT_EQ(usual.at_limit, AtLimit::kQueue);
  EXPECT_EQ(usual.pace, Pace::kHybrid);
  const ScheduleConfig other =
      Options("--rate 1 --arrivals constant --at-limit drop --pace spin --seed 18446744073709551615").run.schedule;
  EXPECT_EQ(other.arrivals, Arrivals::kConstant);
  EXPECT_EQ(other.at_limit, AtLimit::kDrop);
  EXPECT_EQ(other.pace, Pace::kSpin);
  EXPECT_EQ(other.seed, UINT64_MAX);
  RefusedValues("--arrivals", {"uniform"}, {"--rate", "1"});
  RefusedValues("--at-limit", {"wait"}, {"--rate", "1"});
  RefusedValues("--pace", {"busy"}, {"--rate", "1"});
  RefusedValues("--seed", {"-1", "x", "1.5"}, {"--rate", "1"});
  RefusedValues("--max-outstanding", kNotInflightCounts, {"--rate", "1"});
}

TEST(LoadFlags, ClosedAndOpenLoopsHaveFlagsOfTheirOwn) {
  for (const char* closed :
       {"--inflight 1", "--min-inflight 1", "--max-inflight 2", "--inflight-step 1", "--inflight-list 1,2"}) {
    const std::string flag = Split(closed).front();
    Refused(Split(std::string(closed) + " --rate 1"), {flag, "--max-outstanding"});
    Refused(Split(std::string(closed) + " --rate-list 1"), {flag, "--max-outstanding"});
    Refused(Split(std::string(closed) + " --find-rate p99<1ms"), {flag, "--max-outstanding"});
  }
  for (const char* open :
       {"--max-outstanding 1", "--at-limit drop", "--arrivals poisson", "--seed 1", "--pace sleep"}) {
    Refused(Split(open), {Split(open).front(), "--rate"});
    Refused(Split(std::string(open) + " --inflight 4"), {Split(open).front(), "--rate"});
  }
}

TEST(LoadFlags, Objectives) {
  const RunGoals goals = Options("--objective p99<2ms,errors<0.1%").goals;
  EXPECT_FALSE(goals.find_rate);
  ASSERT_THAT(goals.objective.latencies, SizeIs(1));
  EXPECT_EQ(goals.objective.latencies[0].percentile, 99);
  EXPECT_EQ(goals.objective.latencies[0].below_ns, 2 * kNanosPerMilli);
  EXPECT_TRUE(goals.objective.errors_below.has_value());
  EXPECT_FALSE(Options("--rate 5 --objective max<1s").goals.objective.empty());
  for (const char* flag : {"--objective", "--find-rate"}) RefusedValues(flag, {"fast", "p99", "p101<1ms", "p99<0"});
}

TEST(LoadFlags, FindRateSearchesFromWhereItCanBegin) {
  const ClientOptions options = Options("--find-rate p99<2ms --max-outstanding 50 --seed 7");
  EXPECT_TRUE(options.goals.find_rate);
  EXPECT_FALSE(options.goals.objective.empty());
  EXPECT_EQ(options.goals.search.seed, 7u);
  EXPECT_THAT(options.run.points, ElementsAre(Load{50, options.goals.search.start_rate}));
  EXPECT_NEAR(options.goals.search.max_rate, 100e6 / 11, 1) << "what fits into memory";
  EXPECT_EQ(Options("--find-rate p99<2ms --warmup 0 --interval 1").goals.search.max_rate, kMaxRate);
}

TEST(LoadFlags, FindRateChoosesItsOwnPoints) {
  for (const char* other : {"--rate 1", "--rate-list 1,2", "--min-rate 1", "--max-rate 1", "--rate-step 1",
                            "--repetitions 2", "--until-stable 2", "--objective p99<1ms", "--max-error-rate 0.1"}) {
    Refused(Split(std::string("--find-rate p99<2ms ") + other), {"--find-rate", Split(other).front()});
  }
}

TEST(LoadFlags, Repetitions) {
  EXPECT_EQ(Options("--repetitions 5").run.repetitions, 5);
  EXPECT_EQ(Options("").run.until_stable_percent, 0);
  EXPECT_EQ(Options("--until-stable 2.5").run.until_stable_percent, 2.5);
  EXPECT_EQ(Options("--until-stable 2 --max-repetitions 9 --repetitions 9").run.max_repetitions, 9);
  RefusedValues("--repetitions", {"0", "-1", "1001", "1.5"});
  RefusedValues("--until-stable", {"0", "0.05", "-1", "100.5", "nan", "1%"});
  RefusedValues("--max-repetitions", {"5", "-1", "1001", "1.5"}, {"--until-stable", "2"});
  Refused(Split("--max-repetitions 9"), {"--max-repetitions", "--until-stable"});
  Refused(Split("--max-repetitions 9 --until-stable 1 --repetitions 10"), {"--max-repetitions", "9", "10"});
}

// A stream has 16 MiB by default.
TEST(LoadFlags, ByteRateIsARateOfStreams) {
  const RunConfig run = Options("--workload blob --byte-rate 1342177280bit/s").run;  // 160 MiB/s
  ASSERT_THAT(run.points, SizeIs(1));
  EXPECT_DOUBLE_EQ(run.points[0].rate, 10);
  EXPECT_EQ(run.schedule.arrivals, Arrivals::kConstant);
  const std::string small = "--workload blob --method get --chunks 4 --chunk-bytes 1MiB --byte-rate 100MiB/s";
  EXPECT_DOUBLE_EQ(Options(small).run.points[0].rate, 25);
  EXPECT_EQ(Options(small + " --arrivals poisson").run.schedule.arrivals, Arrivals::kPoisson);
}

TEST(LoadFlags, ByteRateErrors) {
  RefusedValues("--byte-rate", {"5", "5G", "0bit/s"}, {"--workload", "blob"});
  Refused(Split("--byte-rate 1Gbit/s"), {"--byte-rate", "--workload blob", "ping/unary"});
  Refused(Split("--workload blob --chunk-bytes 0 --byte-rate 1Gbit/s"), {"--byte-rate", "not empty"});
  Refused(Split("--workload blob --chunks 1 --chunk-bytes 1 --byte-rate 1Gbit/s"), {"--byte-rate", "10000000"});
  Refused(Split("--workload blob --interval 1 --byte-rate 1Mbit/s"), {"--byte-rate", "less than one stream", "1s"});
  Refused(Split("--workload blob --byte-rate 1Gbit/s --rate 5"), {"--byte-rate", "--rate"});
  Refused(Split("--workload blob --byte-rate 1Gbit/s --inflight 5"), {"--inflight", "closed loop"});
}

}  // namespace
}  // namespace cqbench
