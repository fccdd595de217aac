// Call objects are made once and reused, by one thread or by several that share a depot.
#include "src/server/apis/recycler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace cqbench {
namespace {

struct Call {
  explicit Call(MessageStrategy /*messages*/) { made.fetch_add(1); }
  ~Call() { made.fetch_sub(1); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  int payload = 0;
  std::atomic<bool> in_use{false};

  static inline std::atomic<int> made{0};
};

std::vector<Call*> TakeMany(CallStock<Call>& stock, int n) {
  std::vector<Call*> calls;
  for (int i = 0; i < n; ++i) calls.push_back(stock.Take());
  return calls;
}

TEST(CallStock, TakesTheObjectThatWasPutBack) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> stock(&depot);
  Call* first = stock.Take();
  stock.Put(first);
  for (int i = 0; i < 1000; ++i) {
    Call* again = stock.Take();
    ASSERT_EQ(again, first);
    stock.Put(again);
  }
  EXPECT_EQ(Call::made, 1);
}

// The objects of one burst are not kept forever.
TEST(CallStock, IdleObjectsBeyondTheBoundGo) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> stock(&depot);
  for (Call* call : TakeMany(stock, 2 * CallDepot<Call>::kMaxIdle)) stock.Put(call);
  EXPECT_LE(Call::made, static_cast<int>(CallDepot<Call>::kMaxIdle) + 100);
  EXPECT_GE(Call::made, static_cast<int>(CallDepot<Call>::kMaxIdle));
}

TEST(CallStock, ObjectsInUseAreDistinct) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> stock(&depot);
  const std::vector<Call*> calls = TakeMany(stock, 500);
  EXPECT_EQ(std::set<Call*>(calls.begin(), calls.end()).size(), 500u);
  EXPECT_EQ(Call::made, 500);
}

TEST(CallStock, AddressesAndContentsStayWhileMoreAreMade) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> stock(&depot);
  const std::vector<Call*> calls = TakeMany(stock, 100);
  for (int i = 0; i < 100; ++i) calls[static_cast<size_t>(i)]->payload = i;
  TakeMany(stock, 10'000);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(calls[static_cast<size_t>(i)]->payload, i);
}

TEST(CallStock, AsManyAreMadeAsWereInUseAtOnce) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> stock(&depot);
  for (int round = 0; round < 20; ++round) {
    for (Call* call : TakeMany(stock, 200)) stock.Put(call);
  }
  EXPECT_EQ(Call::made, 200);
}

TEST(CallStock, WhatOneThreadPutBackAnotherTakes) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> ours(&depot);
  CallStock<Call> theirs(&depot);
  const std::vector<Call*> calls = TakeMany(ours, 200);
  for (Call* call : calls) ours.Put(call);
  // A stock keeps some objects for itself; after 200 are put back, more than 100 are available.
  const std::set<Call*> known(calls.begin(), calls.end());
  for (Call* call : TakeMany(theirs, 100)) EXPECT_EQ(known.count(call), 1u);
  EXPECT_EQ(Call::made, 200);
}

TEST(CallStock, CallsThatStartOnOneThreadAndEndOnAnotherDoNotPileUp) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> starts(&depot);
  CallStock<Call> ends(&depot);
  for (int i = 0; i < 10'000; ++i) ends.Put(starts.Take());
  EXPECT_LE(Call::made, 100) << "one in flight, and what the two stocks hold back";
}

TEST(CallStock, WhatIsEmptiedAnotherTakes) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  CallStock<Call> ours(&depot);
  CallStock<Call> theirs(&depot);
  Call* const call = ours.Take();
  ours.Put(call);
  ours.Empty();
  EXPECT_EQ(theirs.Take(), call);
}

TEST(CallDepot, TellsItsObjectsHowMessagesLive) {
  struct Told {
    explicit Told(MessageStrategy how) : messages(how) {}
    const MessageStrategy messages;
  };
  CallDepot<Told> depot(MessageStrategy::kArena);
  EXPECT_EQ(CallStock<Told>(&depot).Take()->messages, MessageStrategy::kArena);
}

TEST(CallDepot, OwnsTheObjectsUntilItIsDestroyed) {
  {
    CallDepot<Call> depot(MessageStrategy::kReused);
    CallStock<Call> stock(&depot);
    const std::vector<Call*> calls = TakeMany(stock, 50);
    for (size_t i = 0; i < 25; ++i) stock.Put(calls[i]);
    EXPECT_EQ(Call::made, 50);
  }
  EXPECT_EQ(Call::made, 0);
}

TEST(CallDepot, NoObjectIsHandedOutTwiceToTwoThreads) {
  CallDepot<Call> depot(MessageStrategy::kReused);
  std::atomic<int> taken_twice{0};
  const auto work = [&](int most_in_use) {
    CallStock<Call> stock(&depot);
    std::vector<Call*> in_use;
    for (int i = 0; i < 20'000; ++i) {
      // The number goes up and down, so that stocks run empty and over, and exchange batches through the depot.
      if (i / most_in_use % 2 == 0) {
        in_use.push_back(stock.Take());
        if (in_use.back()->in_use.exchange(true)) taken_twice.fetch_add(1);
      } else if (!in_use.empty()) {
        in_use.back()->in_use.store(false);
        stock.Put(in_use.back());
        in_use.pop_back();
      }
    }
  };
  std::thread other(work, 90);
  work(130);
  other.join();
  EXPECT_EQ(taken_twice, 0);
  EXPECT_LE(Call::made, 90 + 130 + 2 * 65) << "in use at once, and what the stocks hold back";
}

}  // namespace
}  // namespace cqbench
