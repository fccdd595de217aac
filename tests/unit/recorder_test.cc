// Which calls of the window a recorder records, and where.
#include "cqbench/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/recorded.h"

namespace cqbench {
namespace {

using testing::ElementsAre;

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() { window_.Set(kOpen, kClose); }

  RunWindow window_;
  Recorder recorder_{&window_};
  Recorder open_loop_{&window_, /*open_loop=*/true};
};

TEST_F(RecorderTest, LatencyCountsFromDueAndInAnOpenLoopFromSentBesideIt) {
  const CallTimes call{1100, 1400, 1500};
  open_loop_.Success(call);
  const Measurement total = Of(open_loop_);
  EXPECT_EQ(total.latency.Max(), 400);
  ASSERT_NE(total.from_sent, nullptr);
  EXPECT_EQ(total.from_sent->Count(), 1u);
  EXPECT_EQ(total.from_sent->Max(), 100);
}

TEST_F(RecorderTest, TheFirstEndsInTheWindowAndAfterItAreKept) {
  EXPECT_EQ(Of(recorder_).first_end_ns, INT64_MAX);
  recorder_.Success(Call(900, 990));
  recorder_.Success(Call(990, 1010));
  recorder_.Success(Call(1010, 1020));
  recorder_.Success(Call(1900, 2030));
  recorder_.Success(Call(1950, 2020));
  open_loop_.Success(Call(1100, 1005));
  Measurement total = Of(recorder_);
  EXPECT_EQ(total.first_end_ns, 1010);
  EXPECT_EQ(total.first_end_after_ns, 2020);
  open_loop_.MergeInto(total);
  EXPECT_EQ(total.first_end_ns, 1005);
  EXPECT_EQ(total.first_end_after_ns, 2020);
}

TEST_F(RecorderTest, AClosedLoopHasNeitherLatencyFromSentNorPacing) {
  recorder_.Success(Call(1100, 1200));
  recorder_.Unfinished(Call(1100, 2200));
  const Measurement total = Of(recorder_);
  EXPECT_EQ(total.from_sent, nullptr);
  EXPECT_EQ(total.at_least_from_sent, nullptr);
  EXPECT_EQ(total.pacing, nullptr);
}

TEST_F(RecorderTest, WhatNeverEndedEntersAsAtLeastItsAgeFromDueAndFromSent) {
  open_loop_.Unfinished({1100, 1700, 5000});
  const Measurement total = Of(open_loop_);
  ASSERT_NE(total.at_least, nullptr);
  EXPECT_EQ(total.at_least->Max(), 3900);
  ASSERT_NE(total.at_least_from_sent, nullptr);
  EXPECT_EQ(total.at_least_from_sent->Max(), 3300);
  EXPECT_EQ(total.latency.Count(), 0u);
  EXPECT_EQ(total.from_sent->Count(), 0u);
}

TEST_F(RecorderTest, WhatWasNeverSentHasAnAgeFromDueOnly) {
  open_loop_.Unsent(1100, 5000);
  const Measurement total = Of(open_loop_);
  EXPECT_EQ(total.counts.unsent, 1u);
  EXPECT_EQ(total.counts.sent, 0u);
  ASSERT_NE(total.at_least, nullptr);
  EXPECT_EQ(total.at_least->Max(), 3900);
  EXPECT_EQ(total.at_least_from_sent, nullptr);
}

TEST_F(RecorderTest, NothingHasAnAgeWhenEverythingEnded) {
  open_loop_.Success({1100, 1100, 1200});
  open_loop_.Failure({1100, 1100, 1200}, kUnavailable, "");
  open_loop_.Dropped(1100);
  EXPECT_EQ(Of(open_loop_).at_least, nullptr);
  EXPECT_EQ(Of(open_loop_).at_least_from_sent, nullptr);
}

TEST_F(RecorderTest, UnsentBelongsToTheWindowByTheSameRuleAsWhatWasSent) {
  open_loop_.Unsent(kOpen - 1, kClose - 1);  // given up before the end: no call of this window
  open_loop_.Unsent(kClose, 9000);
  EXPECT_EQ(Of(open_loop_).counts.unsent, 0u);
  open_loop_.Unsent(kOpen, 9000);
  EXPECT_EQ(Of(open_loop_).counts.unsent, 1u);
  EXPECT_EQ(Of(open_loop_).counts.due, 0u) << "calls due in the window are counted from the schedule";
  open_loop_.Unsent(kOpen - 1, 9000);
  EXPECT_EQ(Of(open_loop_).counts.unsent, 2u) << "due before it, and outlasted it";
  EXPECT_EQ(Of(open_loop_).counts.due, 1u);
}

TEST_F(RecorderTest, DroppedCountsWhenDueInTheWindow) {
  for (Nanos due : {kOpen - 1, kOpen, kClose - 1, kClose}) open_loop_.Dropped(due);
  EXPECT_EQ(Of(open_loop_).counts.dropped, 2u);
}

// For a random mixture of calls and times around the window, each scheduled call has exactly one outcome.
TEST_F(RecorderTest, IdentitiesHoldForEveryMixture) {
  std::mt19937_64 random(7);
  const auto in = [&](Nanos low, Nanos high) { return std::uniform_int_distribution<Nanos>(low, high)(random); };
  uint64_t due_in_window = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Nanos due = in(0, 3000), sent = due + in(0, 500), done = sent + in(0, 3000);
    const int64_t outcome = in(0, 4);
    if (window_.Contains(due)) ++due_in_window;
    if (outcome == 0) {
      open_loop_.Dropped(due);
      continue;
    }
    if (outcome == 1) {
      open_loop_.Unsent(due, kClose + done);
      continue;
    }
    open_loop_.Sent(due);
    if (outcome == 2) open_loop_.Success({due, sent, done});
    if (outcome == 3) open_loop_.Failure({due, sent, done}, kUnavailable, "");
    if (outcome == 4) open_loop_.Unfinished({due, sent, done});
  }
  const Measurement total = Of(open_loop_);
  const CallCounts& counts = total.counts;
  for (uint64_t some : {counts.due, counts.dropped, counts.unsent, counts.ok, counts.failed, counts.unfinished}) {
    EXPECT_GT(some, 100u);
  }
  EXPECT_EQ(counts.sent, counts.ok + counts.failed + counts.unfinished);
  EXPECT_EQ(due_in_window + counts.due, counts.sent + counts.dropped + counts.unsent);
  EXPECT_EQ(total.latency.Count(), counts.ok);
  EXPECT_EQ(total.from_sent->Count(), counts.ok);
  EXPECT_EQ(total.failures.Total(), counts.failed);
  EXPECT_EQ(total.at_least->Count(), counts.unfinished + counts.unsent);
  EXPECT_EQ(total.at_least_from_sent->Count(), counts.unfinished);
}

TEST_F(RecorderTest, FirstMessageOfEachCodeIsKept) {
  recorder_.Failure(Call(100, 200), kUnavailable, "warming up");
  recorder_.Failure(Call(1100, 1200), kUnavailable, "first");
  recorder_.Failure(Call(1100, 1200), kUnavailable, "second");
  recorder_.Failure(Call(1100, 1200), 4, "late");
  const Failures failures = Of(recorder_).failures;
  EXPECT_EQ(failures.count[kUnavailable], 2u);
  EXPECT_EQ(failures.first_message[kUnavailable], "first");
  EXPECT_EQ(failures.count[4], 1u);
  EXPECT_EQ(failures.first_message[4], "late");
}

class TimeBucketsTest : public testing::Test {
 protected:
  TimeBucketsTest() { window_.Set(kOpen, kClose); }
  std::vector<TimeBucket> TimeBuckets() const { return std::move(Of(recorder_).time_buckets); }
  template <typename T>
  std::vector<T> Each(T (*of)(const TimeBucket&)) const {
    std::vector<T> values;
    for (const TimeBucket& bucket : TimeBuckets()) values.push_back(of(bucket));
    return values;
  }

  RunWindow window_{4, 250};
  Recorder recorder_{&window_};
};

TEST_F(TimeBucketsTest, ThereAreAsManyAsAskedForThoughNothingHappens) {
  EXPECT_EQ(TimeBuckets().size(), 4u);
  EXPECT_EQ(Of(recorder_).bucket_ns, 250);
  EXPECT_EQ(TimeBuckets()[3].latency.Count(), 0u);
}

TEST_F(TimeBucketsTest, CompletedByTheEndAndLatencyByTheDueTime) {
  recorder_.Success(Call(900, 1001));   // throughput of the first time bucket, but no latency of the window
  recorder_.Success(Call(1010, 1020));  // all in the first
  recorder_.Success(Call(1240, 1260));  // due in the first, done in the second
  recorder_.Success(Call(1700, 2300));  // due in the third, done after the window
  recorder_.Success(Call(1990, 1999));  // all in the last
  EXPECT_THAT(Each<uint64_t>([](const TimeBucket& bucket) { return bucket.completed; }), ElementsAre(2, 1, 0, 1));
  EXPECT_THAT(Each<uint64_t>([](const TimeBucket& bucket) { return bucket.latency.Count(); }), ElementsAre(2, 0, 1, 1));
  EXPECT_THAT(Each<Nanos>([](const TimeBucket& bucket) { return bucket.latency.Max(); }), ElementsAre(20, 0, 600, 9));
}

TEST_F(TimeBucketsTest, FailedByTheEnd) {
  recorder_.Failure(Call(1010, 1600), kUnavailable, "");
  recorder_.Failure(Call(1010, 2600), kUnavailable,
                    "");                                 // belongs to the window, but ended in none of its time buckets
  recorder_.Failure(Call(100, 1100), kUnavailable, "");  // belongs to the warm-up
  EXPECT_THAT(Each<uint64_t>([](const TimeBucket& bucket) -> uint64_t { return bucket.failed[kUnavailable]; }),
              ElementsAre(0, 0, 1, 0));
}

TEST_F(TimeBucketsTest, ACallAroundTheWholeWindowIsInNone) {
  recorder_.Success(Call(900, 2100));
  EXPECT_EQ(Of(recorder_).counts.ok, 1u);
  EXPECT_THAT(Each<uint64_t>([](const TimeBucket& bucket) { return bucket.completed + bucket.latency.Count(); }),
              ElementsAre(0, 0, 0, 0));
}

TEST_F(RecorderTest, ThePacersLookIsLatenessAndOutstandingByHalf) {
  open_loop_.SampledPacer(kOpen - 1, kOpen + 500, 1000);  // due before the window
  open_loop_.SampledPacer(1100, 1105, 3);
  open_loop_.SampledPacer(1499, 1500, 5);
  open_loop_.SampledPacer(1500, 1520, 8);
  open_loop_.SampledPacer(kClose, kClose + 500, 1000);
  const Measurement total = Of(open_loop_);
  EXPECT_EQ(total.pacing->lateness.Count(), 3u);
  EXPECT_EQ(total.pacing->lateness.Min(), 1);
  EXPECT_EQ(total.pacing->lateness.Max(), 20);
  EXPECT_EQ(total.pacing->outstanding[0].Mean(), 4);
  EXPECT_EQ(total.pacing->outstanding[1].Mean(), 8);
}

TEST_F(RecorderTest, TheLargestBurstOfTheWindowIsKept) {
  open_loop_.Burst(kOpen - 1, 99);
  open_loop_.Burst(1100, 7);
  open_loop_.Burst(1200, 3);
  open_loop_.Burst(kClose, 99);
  EXPECT_EQ(Of(open_loop_).pacing->largest_burst, 7u);
}

TEST_F(RecorderTest, ASlotAtOnceIsAWaitOfZero) {
  open_loop_.GotSlot(1100, 0);
  open_loop_.GotSlot(1100, 40);
  open_loop_.GotSlot(kOpen - 1, 5000);
  const Measurement total = Of(open_loop_);
  EXPECT_EQ(total.pacing->slot_wait.Count(), 2u);
  EXPECT_EQ(total.pacing->slot_wait.Min(), 0);
  EXPECT_EQ(total.pacing->slot_wait.Max(), 40);
}

TEST_F(RecorderTest, PartsAreKeptOfCallsThatWereDueInsideTheWindow) {
  EXPECT_EQ(Of(recorder_).parts, nullptr);
  recorder_.Parts(kOpen - 1, 5, 50);
  recorder_.Parts(kOpen, 10, 100);
  recorder_.Parts(kClose - 1, 20, 2000);
  recorder_.Parts(kClose, 7, 70);
  const Measurement total = Of(recorder_);
  ASSERT_NE(total.parts, nullptr);
  EXPECT_EQ(total.parts->issue.Count(), 2u);
  EXPECT_EQ(total.parts->issue.Min(), 10);
  EXPECT_EQ(total.parts->issue.Max(), 20);
  EXPECT_EQ(total.parts->wait.Count(), 2u);
  EXPECT_EQ(total.parts->wait.Min(), 100);
  EXPECT_EQ(total.parts->wait.Max(), 2000);
  EXPECT_EQ(total.completed, 0u) << "parts are neither throughput nor latency";
  EXPECT_EQ(total.latency.Count(), 0u);
}

TEST_F(RecorderTest, WaitThatCannotBeToldApartIsLeftOut) {
  recorder_.Parts(1100, 10, -1);
  recorder_.Parts(1100, 10, 0);
  EXPECT_EQ(Of(recorder_).parts->issue.Count(), 2u);
  EXPECT_EQ(Of(recorder_).parts->wait.Count(), 1u);
}

TEST_F(RecorderTest, MergingAddsEveryThreadAndLeavesItAsItWas) {
  Recorder other(&window_), idle(&window_);
  for (Recorder* recorder : {&recorder_, &other}) {
    recorder->Sent(1100);
    recorder->Success(Call(1100, 1130));
    recorder->Sent(1900);
    recorder->Failure(Call(1900, 2500), kUnavailable, recorder == &other ? "theirs" : "ours");
  }
  other.Parts(1100, 10, 20);
  Measurement total;
  for (const Recorder* recorder : {&idle, &recorder_, &other}) recorder->MergeInto(total);
  EXPECT_EQ(total.completed, 2u);
  EXPECT_EQ(total.counts.sent, 4u);
  EXPECT_EQ(total.counts.ok, 2u);
  EXPECT_EQ(total.counts.failed, 2u);
  EXPECT_EQ(total.latency.Count(), 2u);
  EXPECT_EQ(total.failures.first_message[kUnavailable], "ours");
  EXPECT_EQ(total.parts->issue.Count(), 1u);
  EXPECT_EQ(Of(recorder_).counts.sent, 2u);
  EXPECT_EQ(Of(other).parts->issue.Count(), 1u);
}

TEST_F(RecorderTest, MessagesOfStreamsCountInsideTheWindow) {
  recorder_.Message(999, 5);
  EXPECT_EQ(Of(recorder_).messages, nullptr);
  recorder_.Message(1000, -1);  // first message of its stream
  recorder_.Message(1100, 100);
  recorder_.Message(2000, 900);
  Recorder other(&window_);
  other.Message(1999, 40);
  Measurement total;
  for (const Recorder* recorder : {&recorder_, &other}) recorder->MergeInto(total);
  ASSERT_NE(total.messages, nullptr);
  EXPECT_EQ(total.messages->messages, 3u);
  EXPECT_EQ(total.messages->gaps.Count(), 2u);
  EXPECT_EQ(total.messages->gaps.Max(), 100);
}

}  // namespace
}  // namespace cqbench
