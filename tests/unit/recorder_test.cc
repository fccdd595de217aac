// The window's semantics: who counts towards throughput, whose latency is kept, which failures count.
#include "cqbench/recorder.h"

#include <gtest/gtest.h>

#include <string>

namespace cqbench {
namespace {

constexpr Nanos kOpen = 1000;
constexpr Nanos kClose = 2000;
constexpr int kUnavailable = 14;

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() { window_.Set(kOpen, kClose); }

  RunWindow window_;
  Recorder recorder_{&window_};
};

TEST(RunWindow, ContainsItsOpeningInstantButNotItsClosingOne) {
  RunWindow window;
  window.Set(kOpen, kClose);
  EXPECT_FALSE(window.Contains(kOpen - 1));
  EXPECT_TRUE(window.Contains(kOpen));
  EXPECT_TRUE(window.Contains(kClose - 1));
  EXPECT_FALSE(window.Contains(kClose));
  EXPECT_FALSE(window.IsOver(kClose - 1));
  EXPECT_TRUE(window.IsOver(kClose));
}

TEST(RunWindow, NothingIsInsideOrOverBeforeItIsSet) {
  const RunWindow window;
  EXPECT_FALSE(window.Contains(0));
  EXPECT_FALSE(window.Contains(NowNs()));
  EXPECT_FALSE(window.IsOver(NowNs()));
}

TEST(RunWindow, ClosingEarlyKeepsTheOpening) {
  RunWindow window;
  window.Set(kOpen, kClose);
  window.CloseAt(1500);
  EXPECT_EQ(window.open_ns(), kOpen);
  EXPECT_TRUE(window.Contains(1499));
  EXPECT_FALSE(window.Contains(1500));
  EXPECT_TRUE(window.IsOver(1500));
}

struct SuccessCase {
  const char* name;
  Nanos sent;
  Nanos done;
  bool counts_towards_throughput;
  bool latency_is_kept;
};

void PrintTo(const SuccessCase& c, std::ostream* os) {
  *os << c.name;
}

class RecorderSuccess : public testing::TestWithParam<SuccessCase> {};

TEST_P(RecorderSuccess, CountsByItsEndAndKeepsLatencyByItsStart) {
  const SuccessCase& c = GetParam();
  RunWindow window;
  window.Set(kOpen, kClose);
  Recorder recorder(&window);
  EXPECT_EQ(recorder.Success(c.sent, c.done), c.counts_towards_throughput);
  EXPECT_EQ(recorder.Completed(), c.counts_towards_throughput ? 1u : 0u);
  ASSERT_EQ(recorder.latency().Count(), c.latency_is_kept ? 1u : 0u);
  EXPECT_EQ(recorder.latency().Max(), c.latency_is_kept ? c.done - c.sent : 0);
  EXPECT_EQ(recorder.failures().Total(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Window, RecorderSuccess,
                         testing::Values(SuccessCase{"DuringWarmup", 100, 200, false, false},
                                         SuccessCase{"DoneJustBeforeOpen", 900, kOpen - 1, false, false},
                                         SuccessCase{"DoneAtOpen", 900, kOpen, true, false},
                                         SuccessCase{"SentBeforeDoneInside", kOpen - 1, 1100, true, false},
                                         SuccessCase{"SentAtOpen", kOpen, 1100, true, true},
                                         SuccessCase{"Inside", 1200, 1300, true, true},
                                         SuccessCase{"DoneJustBeforeClose", 1900, kClose - 1, true, true},
                                         SuccessCase{"DoneAtClose", 1900, kClose, false, true},
                                         SuccessCase{"SentJustBeforeCloseDoneLongAfter", kClose - 1, 9000, false, true},
                                         SuccessCase{"SentAtClose", kClose, 2100, false, false},
                                         SuccessCase{"AroundTheWholeWindow", 900, 2100, false, false},
                                         SuccessCase{"After", 2500, 2600, false, false}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_F(RecorderTest, FailureCountsWhenSentOrDoneInsideTheWindow) {
  const auto counts = [this](Nanos sent, Nanos done) {
    Recorder recorder(&window_);
    recorder.Failure(sent, done, kUnavailable, "");
    return recorder.failures().Total() == 1;
  };
  EXPECT_FALSE(counts(100, kOpen - 1));
  EXPECT_TRUE(counts(100, kOpen));
  EXPECT_TRUE(counts(kOpen, 1500));
  EXPECT_TRUE(counts(kClose - 1, 9000));
  EXPECT_FALSE(counts(kClose, 9000));
  EXPECT_FALSE(counts(kOpen - 1, kClose)) << "neither end is inside";
}

TEST_F(RecorderTest, FailureIsNeitherThroughputNorLatency) {
  recorder_.Failure(1100, 1200, kUnavailable, "connection refused");
  EXPECT_EQ(recorder_.Completed(), 0u);
  EXPECT_EQ(recorder_.latency().Count(), 0u);
}

TEST_F(RecorderTest, FirstMessageOfEachCodeIsKept) {
  recorder_.Failure(1100, 1200, kUnavailable, "first");
  recorder_.Failure(1100, 1200, kUnavailable, "second");
  recorder_.Failure(1100, 1200, 4, "late");
  EXPECT_EQ(recorder_.failures().count[kUnavailable], 2u);
  EXPECT_EQ(recorder_.failures().first_message[kUnavailable], "first");
  EXPECT_EQ(recorder_.failures().count[4], 1u);
  EXPECT_EQ(recorder_.failures().first_message[4], "late");
  EXPECT_EQ(recorder_.failures().Total(), 3u);
}

TEST_F(RecorderTest, MessagesOutsideTheWindowAreNotKept) {
  recorder_.Failure(100, 200, kUnavailable, "warming up");
  recorder_.Failure(1100, 1200, kUnavailable, "measured");
  EXPECT_EQ(recorder_.failures().first_message[kUnavailable], "measured");
}

TEST_F(RecorderTest, CodesThatNobodyKnowsAreCountedAsUnknown) {
  recorder_.Failure(1100, 1200, 99, "odd");
  recorder_.Failure(1100, 1200, -1, "odder");
  EXPECT_EQ(recorder_.failures().count[2], 2u);
  EXPECT_EQ(recorder_.failures().first_message[2], "odd");
}

TEST_F(RecorderTest, MergeAddsCountsLatenciesAndFailures) {
  Recorder other(&window_);
  recorder_.Success(1100, 1110);
  recorder_.Failure(1100, 1200, kUnavailable, "ours");
  other.Success(1100, 1130);
  other.Success(1900, 2500);
  other.Failure(1100, 1200, kUnavailable, "theirs");
  other.Failure(1100, 1200, kBadResponse, "wrong size");

  recorder_.Merge(other);
  EXPECT_EQ(recorder_.Completed(), 2u);
  EXPECT_EQ(recorder_.latency().Count(), 3u);
  EXPECT_EQ(recorder_.latency().Min(), 10);
  EXPECT_EQ(recorder_.latency().Max(), 600);
  EXPECT_EQ(recorder_.failures().count[kUnavailable], 2u);
  EXPECT_EQ(recorder_.failures().first_message[kUnavailable], "ours");
  EXPECT_EQ(recorder_.failures().first_message[kBadResponse], "wrong size");
  EXPECT_EQ(recorder_.failures().Total(), 3u);
}

TEST_F(RecorderTest, PartsAreKeptOfCallsThatWereSentInsideTheWindow) {
  EXPECT_EQ(recorder_.parts(), nullptr);
  recorder_.Parts(kOpen - 1, 5, 50);
  recorder_.Parts(kOpen, 10, 100);
  recorder_.Parts(kClose - 1, 20, 2000);
  recorder_.Parts(kClose, 7, 70);
  ASSERT_NE(recorder_.parts(), nullptr);
  EXPECT_EQ(recorder_.parts()->issue.Count(), 2u);
  EXPECT_EQ(recorder_.parts()->issue.Min(), 10);
  EXPECT_EQ(recorder_.parts()->issue.Max(), 20);
  EXPECT_EQ(recorder_.parts()->wait.Count(), 2u);
  EXPECT_EQ(recorder_.parts()->wait.Min(), 100);
  EXPECT_EQ(recorder_.parts()->wait.Max(), 2000);
}

TEST_F(RecorderTest, PartsAreNeitherThroughputNorLatency) {
  recorder_.Parts(1100, 10, 100);
  EXPECT_EQ(recorder_.Completed(), 0u);
  EXPECT_EQ(recorder_.latency().Count(), 0u);
}

TEST_F(RecorderTest, WaitThatCannotBeToldApartIsLeftOut) {
  recorder_.Parts(1100, 10, -1);
  recorder_.Parts(1100, 10, 0);
  EXPECT_EQ(recorder_.parts()->issue.Count(), 2u);
  EXPECT_EQ(recorder_.parts()->wait.Count(), 1u);
}

TEST_F(RecorderTest, MergeAddsPartsWhicheverSideHasThem) {
  Recorder other(&window_), without(&window_), total(&window_);
  total.Merge(without);
  EXPECT_EQ(total.parts(), nullptr);
  recorder_.Parts(1100, 10, 100);
  other.Parts(1100, 30, -1);
  total.Merge(recorder_);
  total.Merge(other);
  total.Merge(without);
  ASSERT_NE(total.parts(), nullptr);
  EXPECT_EQ(total.parts()->issue.Count(), 2u);
  EXPECT_EQ(total.parts()->issue.Max(), 30);
  EXPECT_EQ(total.parts()->wait.Count(), 1u);
  EXPECT_EQ(total.parts()->wait.Max(), 100);
  EXPECT_EQ(recorder_.parts()->issue.Count(), 1u) << "what was merged stays as it was";
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

}  // namespace
}  // namespace cqbench
