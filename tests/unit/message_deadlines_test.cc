// Message deadlines in streams: late messages are found in time and never early, with one check per slot and deadline.
#include "src/load/pacing/message_deadlines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct FakeSlot {
  Nanos sent() const { return sent_ns; }
  Nanos sent_ns = 0;
  int late = 0;
};

std::vector<size_t> Late(MessageDeadlines<FakeSlot>& messages, std::vector<FakeSlot>& slots, Nanos now) {
  std::vector<size_t> late;
  messages.Check(now, [&](FakeSlot& slot) { late.push_back(static_cast<size_t>(&slot - slots.data())); });
  return late;
}

TEST(MessageDeadlines, AMessageIsLateAtItsDeadlineAndNotBefore) {
  std::vector<FakeSlot> slots(2);
  MessageDeadlines<FakeSlot> messages(slots, /*deadline_ns=*/1000);
  EXPECT_THAT(Late(messages, slots, 5000), IsEmpty());
  slots[1].sent_ns = 5100;
  EXPECT_THAT(Late(messages, slots, 6000), IsEmpty());
  EXPECT_THAT(Late(messages, slots, 6099), IsEmpty());
  EXPECT_THAT(Late(messages, slots, 6100), ElementsAre(1));
}

TEST(MessageDeadlines, BetweenMessagesNothingIsLate) {
  std::vector<FakeSlot> slots(1);
  MessageDeadlines<FakeSlot> messages(slots, 1000);
  for (Nanos now = 1; now < 20'000; now += 100) EXPECT_THAT(Late(messages, slots, now), IsEmpty());
}

TEST(MessageDeadlines, TheNextMessageHasADeadlineOfItsOwn) {
  std::vector<FakeSlot> slots(1);
  MessageDeadlines<FakeSlot> messages(slots, 1000);
  slots[0].sent_ns = 100;
  EXPECT_THAT(Late(messages, slots, 500), IsEmpty());
  slots[0].sent_ns = 900;  // the first message has its response
  EXPECT_THAT(Late(messages, slots, 1100), IsEmpty());
  EXPECT_THAT(Late(messages, slots, 1899), IsEmpty());
  EXPECT_THAT(Late(messages, slots, 1900), ElementsAre(0));
}

// For random messages and random times of checks, each check finds exactly the messages that are late by then.
TEST(MessageDeadlines, NeverEarlyAndAtMostOneLookAfterTheDeadline) {
  constexpr Nanos kDeadline = 100 * kNanosPerMilli;
  std::mt19937_64 random(1);
  const auto in = [&](Nanos low, Nanos high) { return std::uniform_int_distribution<Nanos>(low, high)(random); };
  std::vector<FakeSlot> slots(100);
  MessageDeadlines<FakeSlot> messages(slots, kDeadline);
  Nanos now = kNanosPerSecond, last = now - kDeadline / 10;
  int late = 0;
  for (int tick = 0; tick < 10'000; ++tick) {
    for (FakeSlot& slot : slots) {
      const bool ends = slot.late > 0 || in(0, 19) == 0;  // a late stream is cancelled
      if (slot.sent_ns != 0 && ends) slot = FakeSlot();
      if (slot.sent_ns == 0 && in(0, 3) > 0) slot.sent_ns = in(last + 1, now);
    }
    messages.Check(now, [&](FakeSlot& slot) {
      ++slot.late;
      ASSERT_NE(slot.sent_ns, 0);
      ASSERT_GE(now - slot.sent_ns, kDeadline) << "early";
    });
    for (const FakeSlot& slot : slots) {
      const bool is_late = slot.sent_ns != 0 && now - slot.sent_ns >= kDeadline;
      ASSERT_EQ(slot.late, is_late ? 1 : 0);
      late += slot.late;
    }
    last = now;
    now += in(1, 30 * kNanosPerMilli);
  }
  EXPECT_GT(late, 1000);
}

// A slot whose messages all take that long, without a pause between them.
struct BusySlot {
  Nanos sent() const { return *now - *now % message_ns; }
  const Nanos* now = nullptr;
  Nanos message_ns = 1;
};

TEST(MessageDeadlines, LooksAtEachSlotAboutOncePerDeadlineHoweverOftenItIsAsked) {
  constexpr size_t kSlots = 100'000;
  constexpr Nanos kDeadline = kNanosPerSecond, kTick = 10 * kNanosPerMilli, kLength = 5 * kNanosPerSecond;
  Nanos now = kNanosPerSecond;
  std::vector<BusySlot> slots(kSlots);
  for (size_t i = 0; i < kSlots; ++i) slots[i] = {&now, kNanosPerMilli + static_cast<Nanos>(i % 5000) * kNanosPerMicro};
  MessageDeadlines<BusySlot> messages(slots, kDeadline);
  int late = 0;
  for (; now < kNanosPerSecond + kLength; now += kTick) messages.Check(now, [&](BusySlot&) { ++late; });
  EXPECT_EQ(late, 0);
  const double kLooks = double{kSlots} * ToSeconds(kLength) / ToSeconds(kDeadline);
  EXPECT_GE(static_cast<double>(messages.checks()), kLooks * 0.98);
  EXPECT_LE(static_cast<double>(messages.checks()), kLooks * 1.25)
      << "a look per tick would be a hundred times as many";
}

}  // namespace
}  // namespace cqbench
