// Durations, channel arguments, lists and ranges of load levels as text, and the names of load levels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/config/client_api.h"
#include "src/config/load.h"
#include "src/config/messages.h"
#include "src/config/units.h"
#include "src/config/wire_settings.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Expects an error with each of the parts.
template <typename T>
void ExpectRefused(const absl::StatusOr<T>& parsed, const std::vector<std::string>& parts) {
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << parts.front();
  for (const std::string& part : parts) EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(part));
}

// A list, and the part of it that is refused.
struct BadList {
  const char* text;
  const char* item;
};
constexpr BadList kBadLists[] = {
    {"", "''"},     {"1,,2", "''"},     {"1,2,", "''"},   {"1,0", "'0'"},
    {"-3", "'-3'"}, {"1,two", "'two'"}, {"1;2", "'1;2'"}, {"99999999999999999999", "'99999999999999999999'"}};

TEST(ParseDuration, PlainNumbersAreSeconds) {
  EXPECT_EQ(ParseDuration("1").value(), kNanosPerSecond);
  EXPECT_EQ(ParseDuration("10").value(), 10 * kNanosPerSecond);
  EXPECT_EQ(ParseDuration("0.5").value(), 500 * kNanosPerMilli);
  EXPECT_EQ(ParseDuration("1e3").value(), 1000 * kNanosPerSecond);
  EXPECT_EQ(ParseDuration("86400").value(), 86400 * kNanosPerSecond);
}

TEST(ParseDuration, NumbersMayCarryAUnit) {
  EXPECT_EQ(ParseDuration("500ms").value(), 500 * kNanosPerMilli);
  EXPECT_EQ(ParseDuration("2m").value(), 120 * kNanosPerSecond);
  EXPECT_EQ(ParseDuration("1.5s").value(), 1500 * kNanosPerMilli);
  EXPECT_EQ(ParseDuration("250us").value(), 250 * kNanosPerMicro);
  EXPECT_EQ(ParseDuration("1ns").value(), 1);
  EXPECT_EQ(ParseDuration("24h").value(), 86400 * kNanosPerSecond);
}

TEST(ParseDuration, DecimalFractionsOfASecondAreNotCutByBinaryOnes) {
  for (int ms = 1; ms < 1000; ++ms) {
    const std::string text = absl::StrCat("0.", ms < 100 ? "0" : "", ms < 10 ? "0" : "", ms);
    EXPECT_EQ(ParseDuration(text).value(), ms * kNanosPerMilli) << text;
  }
}

TEST(ParseDuration, RefusesWhatIsNoDurationAndQuotesIt) {
  for (const char* text : {"", "fast", "10x", "5,5", "1s2", "--1", "s", "ms"}) {
    ExpectRefused(ParseDuration(text), {absl::StrCat("'", text, "' is not a duration")});
  }
}

TEST(ParseDuration, RefusesZeroNegativeAndMoreThanADay) {
  for (const char* text : {"0", "0ms", "-1", "-5s", "0.0000000001", "86401", "24h1ns", "1e300", "inf", "nan", "-inf"}) {
    ExpectRefused(ParseDuration(text), {absl::StrCat("'", text, "' is out of range")});
  }
}

TEST(ParseDuration, ZeroIsAcceptedWhereTheCallerSaysSo) {
  EXPECT_EQ(ParseDuration("0", /*min_ns=*/0).value(), 0);
  EXPECT_EQ(ParseDuration("0ms", /*min_ns=*/0).value(), 0);
  EXPECT_FALSE(ParseDuration("-1ms", /*min_ns=*/0).ok());
  EXPECT_FALSE(ParseDuration("nan", /*min_ns=*/0).ok());
}

TEST(FormatDuration, IsTheShortestExactForm) {
  EXPECT_EQ(FormatDuration(500 * kNanosPerMilli), "500ms");
  EXPECT_EQ(FormatDuration(10 * kNanosPerSecond), "10s");
  EXPECT_EQ(FormatDuration(1500 * kNanosPerMicro), "1.5ms");
  EXPECT_EQ(FormatDuration(7), "7ns");
}

TEST(FormatDuration, IsReadBackAsTheSameDuration) {
  for (Nanos ns : {Nanos{1}, Nanos{999}, Nanos{1'500'001}, 90 * kNanosPerSecond, 3'723'000'000'017}) {
    EXPECT_EQ(ParseDuration(FormatDuration(ns)).value(), ns) << FormatDuration(ns);
  }
}

TEST(ParseChannelArg, WholeNumbersBecomeIntegersAndTheRestStaysText) {
  const auto value_of = [](absl::string_view text) { return ParseChannelArg(text).value().value; };
  EXPECT_EQ(std::get<int>(value_of("grpc.http2.bdp_probe=0")), 0);
  EXPECT_EQ(std::get<int>(value_of("a=-5")), -5);
  EXPECT_EQ(std::get<int>(value_of("a=2147483647")), 2147483647);
  EXPECT_EQ(std::get<std::string>(value_of("a=2147483648")), "2147483648");
  EXPECT_EQ(std::get<std::string>(value_of("a=round_robin")), "round_robin");
  EXPECT_EQ(std::get<std::string>(value_of("a=1.5")), "1.5");
  EXPECT_EQ(std::get<std::string>(value_of("a=")), "");
}

TEST(ParseChannelArg, TheFirstEqualsSignSeparates) {
  const ChannelArg arg = ParseChannelArg("key=a=b").value();
  EXPECT_EQ(arg.key, "key");
  EXPECT_EQ(std::get<std::string>(arg.value), "a=b");
}

TEST(ParseChannelArg, RefusesWhatHasNoKeyOrNoValue) {
  for (const char* text : {"", "key", "=value", "="}) {
    ExpectRefused(ParseChannelArg(text), {absl::StrCat("'", text, "'")});
  }
}

TEST(ParseInflightList, TakesNumbersInTheOrderGiven) {
  EXPECT_THAT(ParseInflightList("7").value(), ElementsAre(7));
  EXPECT_THAT(ParseInflightList("1,2,4").value(), ElementsAre(1, 2, 4));
  EXPECT_THAT(ParseInflightList("48,1").value(), ElementsAre(48, 1));
  EXPECT_THAT(ParseInflightList(absl::StrCat(kMaxInflight)).value(), ElementsAre(kMaxInflight));
}

TEST(ParseInflightList, RefusesEverythingElseAndQuotesTheItem) {
  for (const auto& [text, item] : kBadLists) ExpectRefused(ParseInflightList(text), {item});
  for (const char* text : {"1.5", "100001"}) ExpectRefused(ParseInflightList(text), {absl::StrCat("'", text, "'")});
}

TEST(SweepRange, StepsFromMinToMax) {
  EXPECT_THAT(SweepRange(1, 5, 1), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(SweepRange(2, 10, 4), ElementsAre(2, 6, 10));
}

TEST(SweepRange, MaxIsAPointEvenWhenTheStepsDoNotHitIt) {
  EXPECT_THAT(SweepRange(1, 10, 4), ElementsAre(1, 5, 9, 10));
  EXPECT_THAT(SweepRange(1, 48, 16), ElementsAre(1, 17, 33, 48));
  EXPECT_THAT(SweepRange(1, 3, 100), ElementsAre(1, 3));
}

TEST(SweepRange, EqualEndsAreOnePoint) {
  EXPECT_THAT(SweepRange(8, 8, 1), ElementsAre(8));
  EXPECT_THAT(SweepRange(kMaxInflight, kMaxInflight, kMaxInflight), ElementsAre(kMaxInflight));
}

TEST(ParseRateList, TakesNumbersInTheOrderGiven) {
  EXPECT_THAT(ParseRateList("2000").value(), ElementsAre(2000));
  EXPECT_THAT(ParseRateList("1e4,0.5,2000").value(), ElementsAre(10'000, 0.5, 2000));
  EXPECT_THAT(ParseRateList("10000000").value(), ElementsAre(kMaxRate));
}

TEST(ParseRateList, RefusesEverythingElseAndQuotesTheItem) {
  const auto refused = [](const char* text, const std::string& item) {
    ExpectRefused(ParseRateList(text), {item + " is not a rate", "up to 10000000, calls per second"});
  };
  for (const auto& [text, item] : kBadLists) refused(text, item);
  for (const char* text : {"10000001", "nan", "inf", "1000/s"}) refused(text, absl::StrCat("'", text, "'"));
}

TEST(Lists, RefuseWhatIsGivenTwiceHoweverItIsWritten) {
  ExpectRefused(ParseInflightList("1,2,1"), {"'1' is given twice"});
  ExpectRefused(ParseRateList("1000,2000,1e3"), {"'1e3' is given twice"});
}

TEST(RateRange, StepsFromMinToMaxWhichIsAPointInAnyCase) {
  EXPECT_THAT(RateRange(1000, 3000, 1000), ElementsAre(1000, 2000, 3000));
  EXPECT_THAT(RateRange(1000, 3500, 1000), ElementsAre(1000, 2000, 3000, 3500));
  EXPECT_THAT(RateRange(1000, 1000, 500), ElementsAre(1000));
  EXPECT_THAT(RateRange(1, 2, 100), ElementsAre(1, 2));
}

TEST(RateRange, FractionsDoNotAddUpToAPointTooManyOrTooFew) {
  const std::vector<double> rates = RateRange(0.1, 100, 0.1);
  EXPECT_THAT(rates, testing::SizeIs(1000));
  EXPECT_EQ(rates.back(), 100);
  EXPECT_NEAR(rates[499], 50, 1e-9);
}

TEST(Load, IsClosedUnlessItHasARate) {
  EXPECT_FALSE((Load{8, 0}).open());
  EXPECT_TRUE((Load{8, 0.5}).open());
}

TEST(Load, IsCalledByWhatThePointsOfASweepDifferBy) {
  EXPECT_EQ((Load{8, 0}).Label(), "in-flight 8");
  EXPECT_EQ((Load{8, 0}).Key(), "inflight:8");
  EXPECT_EQ((Load{100, 2000}).Label(), "rate 2000/s");
  EXPECT_EQ((Load{100, 2000}).Key(), "rate:2000");
  EXPECT_EQ((Load{1, 0.5}).Key(), "rate:0.5");
}

TEST(Load, DifferentLoadsHaveDifferentNames) {
  EXPECT_NE((Load{1, 2000}).Key(), (Load{1, 2000.25}).Key());
  EXPECT_EQ((Load{1, kMaxRate}).Key(), "rate:10000000");
  EXPECT_EQ((Load{kMaxInflight, 0}).Key(), "inflight:100000");
  EXPECT_NE((Load{1, 0}), (Load{2, 0}));
  EXPECT_NE((Load{1, 5}), (Load{1, 6}));
}

TEST(ResponsesPerCall, AreManyForServerStreamingOnly) {
  MessageConfig config;
  config.stream_messages = 7;
  for (Shape shape : {Shape::kUnary, Shape::kClientStreaming, Shape::kServerStreaming, Shape::kBidi}) {
    MethodInfo method;
    method.shape = shape;
    EXPECT_EQ(ResponsesPerCall(method, config), shape == Shape::kServerStreaming ? 7 : 1) << ToString(shape);
  }
}

TEST(Names, AreTheOnesOfTheFlags) {
  EXPECT_EQ(ToString(ClientApi::kSync), "sync");
  EXPECT_EQ(ToString(ClientApi::kCq), "cq");
  EXPECT_EQ(ToString(ClientApi::kCallback), "callback");
  EXPECT_EQ(ToString(PollMode::kBlock), "block");
  EXPECT_EQ(ToString(PollMode::kSpin), "spin");
  EXPECT_EQ(ToString(PollMode::kNonPolling), "non-polling");
  EXPECT_EQ(ToString(MessageStrategy::kFresh), "fresh");
  EXPECT_EQ(ToString(MessageStrategy::kReused), "reused");
  EXPECT_EQ(ToString(MessageStrategy::kArena), "arena");
  EXPECT_EQ(ToString(MessageStrategy::kBytes), "bytes");
  EXPECT_EQ(ToString(StubKind::kGenerated), "generated");
  EXPECT_EQ(ToString(StubKind::kGeneric), "generic");
  EXPECT_EQ(ToString(Arrivals::kPoisson), "poisson");
  EXPECT_EQ(ToString(Arrivals::kConstant), "constant");
  EXPECT_EQ(ToString(AtLimit::kQueue), "queue");
  EXPECT_EQ(ToString(AtLimit::kDrop), "drop");
  EXPECT_EQ(ToString(Pace::kSleep), "sleep");
  EXPECT_EQ(ToString(Pace::kHybrid), "hybrid");
  EXPECT_EQ(ToString(Pace::kSpin), "spin");
}

TEST(ParseBytes, NumbersWithAndWithoutUnits) {
  EXPECT_EQ(ParseBytes("0", 10).value(), 0u);
  EXPECT_EQ(ParseBytes("1000", UINT32_MAX).value(), 1000u);
  EXPECT_EQ(ParseBytes("7B", UINT32_MAX).value(), 7u);
  EXPECT_EQ(ParseBytes("2kB", UINT32_MAX).value(), 2000u);
  EXPECT_EQ(ParseBytes("2KiB", UINT32_MAX).value(), 2048u);
  EXPECT_EQ(ParseBytes("3MB", UINT32_MAX).value(), 3'000'000u);
  EXPECT_EQ(ParseBytes("64MiB", 64u << 20).value(), 64u << 20);
}

TEST(ParseBytes, WhatIsNoSizeIsRefused) {
  for (const char* text :
       {"", "B", "KiB", "-1", "1.5KiB", "1 k", "1K", "ten", "4294967296", "99999999999999999999MiB"}) {
    EXPECT_FALSE(ParseBytes(text, UINT32_MAX).ok()) << text;
  }
  EXPECT_FALSE(ParseBytes("11", 10).ok());
  EXPECT_FALSE(ParseBytes("4096MiB", UINT32_MAX).ok());  // 2^32
}

TEST(ParseByteRate, NumbersWithUnits) {
  EXPECT_EQ(ParseByteRate("1bit/s").value(), 1);
  EXPECT_EQ(ParseByteRate("2kbit/s").value(), 2e3);
  EXPECT_EQ(ParseByteRate("0.5Mbit/s").value(), 5e5);
  EXPECT_EQ(ParseByteRate("5Gbit/s").value(), 5e9);
  EXPECT_EQ(ParseByteRate("3MiB/s").value(), 3 * 8 * 1048576.0);
  EXPECT_EQ(ParseByteRate("1000Gbit/s").value(), 1e12);
}

TEST(ParseByteRate, WhatIsNoRateIsRefused) {
  for (const char* text : {"", "5", "Gbit/s", "5Gbit", "5Gbps", "5 G", "0Gbit/s", "-1Gbit/s", "nanGbit/s", "infGbit/s",
                           "1001Gbit/s", "5GB/s"}) {
    EXPECT_FALSE(ParseByteRate(text).ok()) << text;
  }
}

TEST(ChunkBytesPerCall, IsWhatGoesTheOneWay) {
  MethodInfo method;
  method.shape = Shape::kClientStreaming;
  MessageConfig config;
  config.request_bytes = 5u << 20;
  config.response_bytes = 7;
  config.stream_messages = 1000;
  EXPECT_EQ(ChunkBytesPerCall(method, config), 0u) << "streams no chunks";
  method.chunks = 1024;
  EXPECT_EQ(ChunkBytesPerCall(method, config), 5'242'880'000u);
  method.shape = Shape::kServerStreaming;
  EXPECT_EQ(ChunkBytesPerCall(method, config), 7000u);
}

}  // namespace
}  // namespace cqbench
