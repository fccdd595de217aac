// The gate between a slot, which reuses its context, and a thread that cancels calls in flight.
#include "src/load/pacing/slot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "src/load/pacing/cancel_gate.h"

namespace cqbench {
namespace {

TEST(CancelGate, ThereIsNothingToCancelBeforeTheFirstCall) {
  CancelGate gate;
  EXPECT_FALSE(gate.Cancel());
}

TEST(CancelGate, CancelsTheCallBetweenEnterAndLeave) {
  CancelGate gate;
  grpc::ClientContext context;
  gate.Enter(&context);
  EXPECT_TRUE(gate.Cancel());
  EXPECT_TRUE(gate.Cancel()) << "still in flight: cancelling again is allowed";
  gate.Leave();
  EXPECT_FALSE(gate.Cancel());
}

TEST(CancelGate, IsUsedForCallAfterCall) {
  CancelGate gate;
  for (int i = 0; i < 100; ++i) {
    grpc::ClientContext context;
    gate.Enter(&context);
    EXPECT_TRUE(gate.Cancel());
    gate.Leave();
    EXPECT_FALSE(gate.Cancel());
  }
}

TEST(CancelGate, TheEndOfACallThatIsKeptWaitsUntilItIsGivenBack) {
  CancelGate gate;
  EXPECT_EQ(gate.Keep(), nullptr);
  grpc::ClientContext context;
  gate.Enter(&context);
  EXPECT_EQ(gate.Keep(), &context);
  EXPECT_FALSE(gate.Cancel()) << "it is nobody's";
  std::atomic<bool> left{false};
  std::thread slot([&] {
    gate.Leave();
    left = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(left);
  gate.GiveBack(&context);
  slot.join();
  EXPECT_EQ(gate.Keep(), nullptr);
}

// The slot destroys its context right after Leave() and overwrites it. If Leave() did not wait for a cancellation in
// progress, the cancelling thread would lock a destroyed mutex, and crash or hang.
TEST(CancelGate, LeaveWaitsForACancellationInProgress) {
  constexpr int kCalls = 20'000;
  CancelGate gate;
  std::atomic<bool> done{false};
  std::atomic<int> cancelled{0};
  std::thread canceller([&] {
    while (!done.load()) {
      if (gate.Cancel()) cancelled.fetch_add(1);
    }
  });
  alignas(grpc::ClientContext) unsigned char memory[sizeof(grpc::ClientContext)];
  // Continues past kCalls until the threads have met, which may take a while on one CPU.
  for (int i = 0; i < kCalls || cancelled.load() == 0; ++i) {
    auto* context = new (memory) grpc::ClientContext;
    gate.Enter(context);
    if (i % 64 == 0) std::this_thread::yield();
    gate.Leave();
    context->~ClientContext();
    std::memset(memory, 0xff, sizeof(memory));
  }
  done.store(true);
  canceller.join();
  EXPECT_GT(cancelled, 0);
  EXPECT_FALSE(gate.Cancel());
}

TEST(CallSlot, RemembersWhenTheCallInFlightWasSent) {
  CallSlot slot;
  EXPECT_EQ(slot.sent(), 0);
  slot.Sent(17);
  EXPECT_EQ(slot.sent(), 17);
  slot.Sent(0);
  EXPECT_EQ(slot.sent(), 0);
}

TEST(CallSlot, NeighboursDoNotShareCacheLines) {
  const auto slots = std::make_unique<CallSlot[]>(2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(&slots[0]) % 64, 0u);
  EXPECT_EQ(sizeof(CallSlot) % 64, 0u);
}

}  // namespace
}  // namespace cqbench
