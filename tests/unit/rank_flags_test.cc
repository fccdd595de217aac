// Flags of a rank: its index and its share of the load.
#include "src/cli/client/rank_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/client_line.h"

namespace cqbench {
namespace {

using testing::ElementsAre;

// Returns the options of one rank of four.
ClientOptions Rank(int index, const std::string& more) {
  return Options("--ranks 4 --rendezvous /tmp --rank " + std::to_string(index) + " " + more);
}
void RefusedInRanks(const std::string& more, const Arguments& words) {
  Refused(Split("--ranks 4 --rank 1 --rendezvous /tmp " + more), words);
}

TEST(RankFlags, AloneByDefault) {
  EXPECT_FALSE(Options("").ranks.id.has_value());
}

TEST(RankFlags, LoadIsDivided) {
  EXPECT_THAT(Rank(0, "--inflight-list 4,10").run.points, ElementsAre(Load{1, 0}, Load{3, 0}));
  EXPECT_THAT(Rank(3, "--inflight-list 4,10").run.points, ElementsAre(Load{1, 0}, Load{2, 0}));
  EXPECT_THAT(Rank(0, "--rate 1001 --max-outstanding 9").run.points, ElementsAre(Load{3, 251}));
  EXPECT_THAT(Rank(1, "--rate 1001 --max-outstanding 9").run.points, ElementsAre(Load{2, 250}));
}

TEST(RankFlags, NumbersOfCallsAreDivided) {
  uint64_t total = 0, skipped = 0;
  for (int i = 0; i < 4; ++i) {
    const RunConfig run = Rank(i, "--total 1010 --skip-first 7").run;
    total += run.total;
    skipped += run.skip_first;
  }
  EXPECT_EQ(total, 1003u);  // as the user counts; the skipped calls are among the 1010
  EXPECT_EQ(skipped, 7u);
  EXPECT_EQ(Rank(1, "--per-rank --total 1010").run.total, 1010u);
  EXPECT_EQ(Rank(1, "").run.total, 0u);
  RefusedInRanks("--total 3", {"--total", "3 calls", "4 ranks", "--per-rank"});
  RefusedInRanks("--skip-first 3", {"--skip-first", "3 calls", "4 ranks"});
}

TEST(RankFlags, PerRank) {
  EXPECT_THAT(Rank(3, "--per-rank --inflight-list 1,2").run.points, ElementsAre(Load{1, 0}, Load{2, 0}));
  EXPECT_THAT(Rank(3, "--per-rank --rate 7").run.points, ElementsAre(Load{100, 7}));
}

TEST(RankFlags, SeedsOfTheirOwn) {
  EXPECT_EQ(Rank(0, "--rate 400 --seed 5").run.schedule.seed, 5u);
  EXPECT_NE(Rank(1, "--rate 400 --seed 5").run.schedule.seed, 5u);
  EXPECT_NE(Rank(1, "--rate 400 --seed 5").run.schedule.seed, Rank(2, "--rate 400 --seed 5").run.schedule.seed);
  EXPECT_NE(Rank(1, "--rate 400 --seed 5").run.schedule.seed, Rank(1, "--rate 400 --seed 6").run.schedule.seed);
  EXPECT_NE(Rank(1, "--per-rank --rate 400").run.schedule.seed, Rank(2, "--per-rank --rate 400").run.schedule.seed);
}

TEST(RankFlags, LessThanOneForEach) {
  RefusedInRanks("--inflight 3", {"--inflight", "3", "4 ranks", "--per-rank"});
  RefusedInRanks("--rate 100 --max-outstanding 3", {"--max-outstanding", "3", "4 ranks", "--per-rank"});
}

TEST(RankFlags, PointsThatARankCannotTellApart) {
  RefusedInRanks("--inflight-list 4,5", {"--inflight", "in-flight 1", "rank 1"});
  EXPECT_THAT(Rank(0, "--inflight-list 4,5").run.points, ElementsAre(Load{1, 0}, Load{2, 0}));
}

TEST(RankFlags, WhoAndHow) {
  RefusedValues("--ranks", {"0", "-1", "10001", "many"}, Split("--rank 0 --rendezvous /tmp"));
  RefusedValues("--rank", {"-1", "10000", "one"}, Split("--ranks 2 --rendezvous /tmp"));
  Refused(Split("--ranks 2 --rank 2 --rendezvous /tmp"), {"--rank", "2", "0 to 1"});
  Refused(Split("--ranks 2 --rendezvous /tmp"), {"--ranks", "--rank"});
  Refused(Split("--ranks 2 --rank 0"), {"--ranks", "--rendezvous", "--start-at"});
  Refused(Split("--ranks 2 --rank 0 --rendezvous /tmp --start-at 1"), {"--rendezvous", "--start-at"});
  for (const char* flag : {"--rank 0", "--per-rank", "--rendezvous /tmp", "--start-at 1", "--rank-timeout 1"}) {
    Refused(Split(flag), {Split(flag).front(), "--ranks"});
  }
}

TEST(RankFlags, StartAt) {
  const auto at = [](const std::string& time) {
    return Options("--ranks 2 --rank 0 --inflight 2 --start-at " + time).ranks.start_at;
  };
  EXPECT_EQ(at("1700000000"), 1'700'000'000 * kNanosPerSecond);
  EXPECT_EQ(at("1700000000.5"), 1'700'000'000 * kNanosPerSecond + kNanosPerSecond / 2);
  EXPECT_EQ(at("2023-11-14T23:13:20.25+01:00"), 1'700'000'000 * kNanosPerSecond + kNanosPerSecond / 4);
  RefusedValues("--start-at", {"noon", "-1", "nan", "1e300", "2023-11-14"}, Split("--ranks 2 --rank 0"));
  Refused(Split("--ranks 2 --rank 0 --start-at 1700000000 --inflight-list 2,4"), {"--start-at", "2", "--rendezvous"});
  Refused(Split("--ranks 2 --rank 0 --start-at 1700000000 --repetitions 3"), {"--start-at", "3"});
}

TEST(RankFlags, WhatEndsByItself) {
  for (const char* flag : {"--until-stable 5", "--find-rate p99<1ms", "--lower-bound"}) {
    RefusedInRanks(flag, {Split(flag).front(), "ranks"});
  }
}

TEST(RankFlags, ALauncherKnows) {
  const auto parse = [](const std::string& line) {
    return ParseWith(
        +[](int argc, const char* const* argv) {
          return ParseClientFlags(argc, argv, RankId{1, 2});
        },
        Split(line));
  };
  const auto parsed = parse("--inflight 5 --rendezvous /tmp");
  ASSERT_TRUE(parsed.options.has_value()) << parsed.text;
  EXPECT_EQ(parsed.options->ranks.id->index, 1);
  EXPECT_THAT(parsed.options->run.points, ElementsAre(Load{2, 0}));
  ExpectUsageError(parse("--inflight 5"), {}, {"--rendezvous"});
  EXPECT_EQ(parse("--inflight 5 --rendezvous /tmp --output x.json").options->output, "x.json");
  for (const char* flag : {"--ranks 2", "--rank 1", "--start-at 1700000000", "--rank-timeout 1"}) {
    const Arguments words = {Split(flag).front(), "launcher"};
    ExpectUsageError(parse(flag), Split(flag), words);
  }
}

TEST(RankFlags, AMergeMeasuresNothing) {
  EXPECT_THAT(Options("--merge a.json b.json --format csv").ranks.merge, ElementsAre("a.json", "b.json"));
  Refused(Split("--merge a.json --rate 5"), {"--rate", "--merge"});
  Refused(Split("--ranks 2 --merge a.json"), {"--ranks", "--merge"});
}

}  // namespace
}  // namespace cqbench
