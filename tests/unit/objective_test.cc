#include "src/result/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Objective Parsed(absl::string_view text) {
  const auto objective = ParseObjective(text);
  EXPECT_TRUE(objective.ok()) << objective.status();
  return objective.value_or(Objective());
}

// Makes `fast` calls of 1 ms and `slow` calls of 5 ms.
Measurement Measured(uint64_t fast, uint64_t slow) {
  Measurement measurement;
  if (fast > 0) measurement.latency.Record(kNanosPerMilli, fast);
  if (slow > 0) measurement.latency.Record(5 * kNanosPerMilli, slow);
  measurement.counts.due = measurement.counts.sent = measurement.counts.ok = fast + slow;
  return measurement;
}

void AddUnfinished(Measurement& measurement, uint64_t calls, Nanos age) {
  if (!measurement.at_least) measurement.at_least = std::make_unique<Histogram>();
  measurement.at_least->Record(age, calls);
  measurement.counts.due += calls;
  measurement.counts.sent += calls;
  measurement.counts.unfinished += calls;
}

TEST(ParseObjective, TakesPercentilesTheMaximumAndErrors) {
  const Objective objective = Parsed("p99<2ms, p99.9 <= 1s,max<10s,errors<0.1%");
  ASSERT_EQ(objective.latencies.size(), 3u);
  EXPECT_EQ(objective.latencies[0].percentile, 99);
  EXPECT_EQ(objective.latencies[0].below_ns, 2 * kNanosPerMilli);
  EXPECT_EQ(objective.latencies[1].percentile, 99.9);
  EXPECT_EQ(objective.latencies[1].below_ns, kNanosPerSecond);
  EXPECT_EQ(objective.latencies[2].percentile, 100);
  EXPECT_EQ(objective.errors_below, 0.001);
}

TEST(ParseObjective, TakesAShareWithoutPercentAndNone) {
  EXPECT_EQ(Parsed("errors<0.001").errors_below, 0.001);
  EXPECT_EQ(Parsed("errors<0").errors_below, 0.0);
  EXPECT_EQ(Parsed("errors<=100%").errors_below, 1.0);
}

TEST(ParseObjective, WritesWhatItReads) {
  for (const char* text : {"p99<2ms,errors<0.1%", "max<1.5s", "p50<250us,p99.99<1m", "errors<0%", "errors<7%",
                           "errors<12.3456789%", "p33.333333333<1ns", "errors<0.00001%", "p0.00000000001<1ms",
                           "errors<0.8183905673919991", "p0.0000000000000000000000001<1ms"}) {
    EXPECT_EQ(Parsed(text).ToString(), text);
  }
  EXPECT_EQ(Parsed(" p100<=2000us , errors<0.5 ").ToString(), "max<2ms,errors<50%");
}

TEST(ParseObjective, RefusesWhatItDoesNotUnderstandInOneLine) {
  const std::vector<std::string> refused = absl::StrSplit(
      "|,|p99|p99<|p99<2|p99<-2ms|p99<0ms|p99<2parsecs|p99<inf|p99<nan|p99<25h|p0<1ms|p101<1ms|p<1ms|"
      "pnan<1ms|p-1<1ms|p1e1<1ms|p99>2ms|p99=2ms|p99<<2ms|mean<1ms|max1<1ms|errors|errors<|errors<101%|"
      "errors<2|errors<-1%|errors<nan|errors<1ms|p99<2ms,|p99<2ms,p99<3ms|p100<2ms,max<3ms|"
      "errors<1%,errors<2%|p1<1s,p2<1s,p3<1s,p4<1s,p5<1s,p6<1s,p7<1s,p8<1s,p9<1s",
      '|');
  for (const std::string& text : refused) {
    const auto objective = ParseObjective(text);
    EXPECT_EQ(objective.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(objective.status().message()), HasSubstr("accepted are")) << text;
    EXPECT_EQ(objective.status().message().find('\n'), absl::string_view::npos) << text;
  }
  EXPECT_EQ(ParseObjective("p99<2ms,mean<1ms").status().message(),
            "'mean<1ms' begins with none of pN (N above 0, up to 100), max and errors; accepted are up to 8 terms such "
            "as p99<2ms, max<1s, errors<0.1%, separated by commas");
}

TEST(CallsNeeded, TenMustBeSlower) {
  EXPECT_EQ(CallsNeeded(Parsed("errors<1%")), 1u);
  EXPECT_EQ(CallsNeeded(Parsed("max<1s")), 1u);
  EXPECT_EQ(CallsNeeded(Parsed("p50<1s")), 20u);
  EXPECT_EQ(CallsNeeded(Parsed("p50<1s,p99<2s,p90<1s")), 1000u);
  EXPECT_EQ(CallsNeeded(Parsed("p99.9<1s")), 10'000u);
  EXPECT_EQ(CallsNeeded(Parsed("p99.99<1s")), 100'000u);
}

TEST(Misses, NoneWhenEveryTermIsMet) {
  EXPECT_THAT(Misses(Parsed("p99<2ms,p50<1.1ms,max<10ms,errors<0"), Measured(991, 9)), IsEmpty());
  EXPECT_THAT(Misses(Objective(), Measured(0, 0)), IsEmpty());
}

TEST(Misses, OneLineForEachTerm) {
  EXPECT_THAT(Misses(Parsed("p99<2ms,max<4ms,p50<2ms"), Measured(989, 11)),
              ElementsAre("p99 is 5ms, above 2ms", "max is 5ms, above 4ms"));
}

TEST(Misses, TheRankIsTheNearest) {
  EXPECT_THAT(Misses(Parsed("p99<2ms"), Measured(990, 10)), IsEmpty());
  EXPECT_THAT(Misses(Parsed("p99<2ms"), Measured(989, 11)), testing::SizeIs(1));
  EXPECT_THAT(Misses(Parsed("p99.9<2ms"), Measured(9990, 10)), IsEmpty());
  EXPECT_THAT(Misses(Parsed("p99.9<2ms"), Measured(9989, 11)), testing::SizeIs(1));
}

TEST(Misses, ABoundThatIsReachedIsMet) {
  EXPECT_THAT(Misses(Parsed("max<5ms"), Measured(10, 1)), IsEmpty());
  EXPECT_THAT(Misses(Parsed("max<4999999ns"), Measured(10, 1)), testing::SizeIs(1));
}

TEST(Misses, TooFewCallsTellNothing) {
  EXPECT_THAT(Misses(Parsed("p99<2ms"), Measured(999, 0)),
              ElementsAre("p99 cannot be told from 999 calls: it takes 1000"));
  EXPECT_THAT(Misses(Parsed("p99<2ms"), Measured(1000, 0)), IsEmpty());
}

TEST(Misses, NoCallsMeetNothing) {
  EXPECT_THAT(Misses(Parsed("max<2ms,errors<1%"), Measurement()),
              ElementsAre("max cannot be told from 0 calls: it takes 1", "errors cannot be told: no call was due"));
}

// Hanging calls may take any time: 1000 calls of which 11 hang have an unknown P99.
TEST(Misses, ACallThatDidNotEndMayHaveTakenForever) {
  Measurement measurement = Measured(989, 0);
  AddUnfinished(measurement, 11, kNanosPerMilli / 2);
  EXPECT_THAT(Misses(Parsed("p99<2ms"), measurement), ElementsAre("p99 could be above 2ms: 11 calls did not end"));
}

TEST(Misses, ACallThatDidNotEndHasTakenItsAge) {
  Measurement measurement = Measured(989, 0);
  AddUnfinished(measurement, 11, kNanosPerSecond);
  EXPECT_THAT(Misses(Parsed("p99<2ms"), measurement), ElementsAre("p99 is above 2ms: 11 calls did not end"));
}

TEST(Misses, CallsThatDidNotEndChangeNoPercentileBelowThem) {
  Measurement measurement = Measured(990, 0);
  AddUnfinished(measurement, 10, kNanosPerSecond);
  EXPECT_THAT(Misses(Parsed("p99<2ms"), measurement), IsEmpty());
  EXPECT_THAT(Misses(Parsed("max<2ms"), measurement), testing::SizeIs(1));
}

TEST(Misses, EightHangingCallsOfEightMeetNothing) {
  Measurement measurement;
  AddUnfinished(measurement, 8, kNanosPerMilli);
  EXPECT_THAT(Misses(Parsed("max<1s,errors<50%"), measurement),
              ElementsAre("max could be above 1s: 8 calls did not end", "errors are 100%, above 50%: 8 of 8 calls"));
}

TEST(Misses, EveryKindOfErrorCounts) {
  for (uint64_t CallCounts::*kind :
       {&CallCounts::failed, &CallCounts::unfinished, &CallCounts::unsent, &CallCounts::dropped}) {
    Measurement measurement = Measured(989, 0);
    measurement.counts.due = 1000;
    measurement.counts.*kind = 11;
    EXPECT_THAT(Misses(Parsed("errors<1%"), measurement), ElementsAre("errors are 1.1%, above 1%: 11 of 1000 calls"));
    measurement.counts.*kind = 10;
    EXPECT_THAT(Misses(Parsed("errors<1%"), measurement), IsEmpty());
  }
}

TEST(Misses, FailedAndDroppedCallsAreInNoPercentile) {
  Measurement measurement = Measured(1000, 0);
  measurement.counts.failed = measurement.counts.dropped = 500;
  measurement.counts.due += 1000;
  EXPECT_THAT(Misses(Parsed("p99<2ms"), measurement), IsEmpty());
}

}  // namespace
}  // namespace cqbench
