// The window: which calls belong to it and which count towards throughput.
#include <gtest/gtest.h>

#include <string>

#include "cqbench/recorder.h"
#include "tests/unit/recorded.h"

namespace cqbench {
namespace {

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
  EXPECT_FALSE(window.Owns(0, NowNs()));
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

TEST(RunWindow, HasNoTimeSeriesUnlessAskedFor) {
  EXPECT_EQ(RunWindow().time_buckets(), 0);
  EXPECT_EQ(RunWindow(10, 100).time_buckets(), 10);
  EXPECT_EQ(RunWindow(10, 100).bucket_ns(), 100);
}

struct CallCase {
  const char* name;
  Nanos due;
  Nanos done;
  bool is_throughput;
  bool belongs;
};

void PrintTo(const CallCase& c, std::ostream* os) {
  *os << c.name;
}

class RecorderCall : public testing::TestWithParam<CallCase> {
 protected:
  RecorderCall() { window_.Set(kOpen, kClose); }
  RunWindow window_;
};

TEST_P(RecorderCall, IsThroughputByItsEndAndBelongsByItsDueTimeOrByOutlastingTheWindow) {
  const CallCase& c = GetParam();
  Recorder recorder(&window_);
  EXPECT_EQ(window_.Owns(c.due, c.done), c.belongs);
  recorder.Sent(c.due);
  EXPECT_EQ(recorder.Success(Call(c.due, c.done)), c.is_throughput);
  EXPECT_EQ(recorder.Completed(), c.is_throughput ? 1u : 0u);
  EXPECT_EQ(recorder.CompletedBefore(), c.done < kOpen ? 1u : 0u);
  const Measurement total = Of(recorder);
  EXPECT_EQ(total.completed, c.is_throughput ? 1u : 0u);
  EXPECT_EQ(total.counts.ok, c.belongs ? 1u : 0u);
  EXPECT_EQ(total.latency.Count(), c.belongs ? 1u : 0u);
  EXPECT_EQ(total.latency.Max(), c.belongs ? c.done - c.due : 0);
  EXPECT_EQ(total.failures.Total(), 0u);
}

TEST_P(RecorderCall, FailsByTheSameRule) {
  const CallCase& c = GetParam();
  Recorder recorder(&window_);
  recorder.Sent(c.due);
  recorder.Failure(Call(c.due, c.done), kUnavailable, "refused");
  const Measurement total = Of(recorder);
  EXPECT_EQ(total.counts.failed, c.belongs ? 1u : 0u);
  EXPECT_EQ(total.failures.count[kUnavailable], c.belongs ? 1u : 0u);
  EXPECT_EQ(total.completed, 0u) << "a failure is no throughput";
  EXPECT_EQ(total.latency.Count(), 0u) << "a failure has no latency";
}

TEST_P(RecorderCall, NeverEndsByTheSameRule) {
  const CallCase& c = GetParam();
  Recorder recorder(&window_);
  recorder.Sent(c.due);
  recorder.Unfinished(Call(c.due, c.done));
  const Measurement total = Of(recorder);
  EXPECT_EQ(total.counts.unfinished, c.belongs ? 1u : 0u);
  ASSERT_EQ(total.at_least != nullptr, c.belongs);
  if (c.belongs) {
    EXPECT_EQ(total.at_least->Max(), c.done - c.due);
  }
}

TEST_P(RecorderCall, IsSentIfAndOnlyIfItIsOneOfTheOutcomes) {
  const CallCase& c = GetParam();
  const auto counts_after = [&](auto end) {
    Recorder recorder(&window_);
    recorder.Sent(c.due);
    end(recorder, Call(c.due, c.done));
    return Of(recorder).counts;
  };
  for (const CallCounts& counts :
       {counts_after([](Recorder&r, const CallTimes&call) { r.Success(call); }),
        counts_after([](Recorder&r, const CallTimes&call) { r.Failure(call, kUnavailable, ""); }),
        counts_after([](Recorder&r, const CallTimes&call) { r.Unfinished(call); })}) {
    EXPECT_EQ(counts.sent, c.belongs ? 1u : 0u);
    EXPECT_EQ(counts.sent, counts.ok + counts.failed + counts.unfinished);
  }
}

INSTANTIATE_TEST_SUITE_P(Window, RecorderCall,
                         testing::Values(CallCase{"DuringWarmup", 100, 200, false, false},
                                         CallCase{"DoneJustBeforeOpen", 900, kOpen - 1, false, false},
                                         CallCase{"DoneAtOpen", 900, kOpen, true, false},
                                         CallCase{"DueBeforeDoneInside", kOpen - 1, 1100, true, false},
                                         CallCase{"DueBeforeDoneJustInside", 900, kClose - 1, true, false},
                                         CallCase{"DueAtOpen", kOpen, 1100, true, true},
                                         CallCase{"Inside", 1200, 1300, true, true},
                                         CallCase{"DoneJustBeforeClose", 1900, kClose - 1, true, true},
                                         CallCase{"DoneAtClose", 1900, kClose, false, true},
                                         CallCase{"DueJustBeforeCloseDoneLongAfter", kClose - 1, 9000, false, true},
                                         CallCase{"DueAtClose", kClose, 2100, false, false},
                                         CallCase{"AroundTheWholeWindow", 900, 2100, false, true},
                                         CallCase{"FromJustBeforeToItsClose", kOpen - 1, kClose, false, true},
                                         CallCase{"After", 2500, 2600, false, false}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace cqbench
