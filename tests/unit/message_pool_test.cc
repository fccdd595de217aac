// The callback server's pool of unary messages: concurrent calls get distinct messages, reuse follows the strategy, and
// threads and pools may end in any order.
#include "src/server/apis/message_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "src/workload/methods/echo.h"

namespace cqbench {
namespace {

using Pool = MessagePool<EchoUnary>;
using Messages = grpc::MessageHolder<v1::EchoRequest, v1::EchoResponse>;

TEST(MessagePool, ReusedMessagesAreTheSameAsTheyWereLeft) {
  Pool pool(MessageStrategy::kReused);
  Messages* const first = pool.AllocateMessages();
  v1::EchoResponse* const response = first->response();
  response->set_requests(7);
  first->Release();
  for (int i = 0; i < 100; ++i) {
    Messages* const again = pool.AllocateMessages();
    ASSERT_EQ(again->response(), response);
    EXPECT_EQ(again->response()->requests(), 7u);
    again->Release();
  }
}

TEST(MessagePool, MessagesOnAnArenaAreEmptyAndOnIt) {
  Pool pool(MessageStrategy::kArena);
  for (int i = 0; i < 100; ++i) {
    Messages* const messages = pool.AllocateMessages();
    EXPECT_EQ(messages->response()->requests(), 0u);
    EXPECT_TRUE(messages->request()->payload().empty());
    EXPECT_NE(messages->request()->GetArena(), nullptr);
    EXPECT_NE(messages->response()->GetArena(), nullptr);
    messages->response()->set_requests(7);
    messages->request()->set_payload(std::string(10'000, 'x'));
    messages->Release();
  }
}

TEST(MessagePool, MessagesInUseAreDistinct) {
  Pool pool(MessageStrategy::kReused);
  std::vector<Messages*> in_use;
  std::set<const void*> distinct;
  for (int i = 0; i < 500; ++i) {
    in_use.push_back(pool.AllocateMessages());
    distinct.insert(in_use.back()->request());
    distinct.insert(in_use.back()->response());
  }
  EXPECT_EQ(distinct.size(), 1000u);
  for (Messages* messages : in_use) messages->Release();
}

TEST(MessagePool, AThreadThatEndsGivesItsStockBack) {
  Pool pool(MessageStrategy::kReused);
  std::set<const void*> seen;
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      Messages* const messages = pool.AllocateMessages();
      seen.insert(messages->request());
      messages->Release();
    }).join();
  }
  EXPECT_EQ(seen.size(), 1u);
}

TEST(MessagePool, PoolsOfOneThreadDoNotMix) {
  auto first = std::make_unique<Pool>(MessageStrategy::kReused);
  Pool second(MessageStrategy::kReused);
  Messages* const of_first = first->AllocateMessages();
  Messages* const of_second = second.AllocateMessages();
  of_second->response()->set_requests(2);
  of_first->Release();
  of_second->Release();
  first.reset();
  Messages* const again = second.AllocateMessages();
  EXPECT_EQ(again->response()->requests(), 2u);
  again->Release();
}

// Calls start on one thread and end on another; pools start and end like servers.
TEST(MessagePool, AnyThreadAnyPool) {
  std::atomic<int> mixed{0};
  for (int round = 0; round < 10; ++round) {
    Pool pool(round % 2 == 0 ? MessageStrategy::kReused : MessageStrategy::kArena);
    std::vector<std::thread> threads;
    for (uint32_t mine = 1; mine <= 4; ++mine) {
      threads.emplace_back([&, mine] {
        std::vector<Messages*> in_use;
        for (int i = 0; i < 5'000; ++i) {
          in_use.push_back(pool.AllocateMessages());
          in_use.back()->response()->set_requests(mine);
          if (in_use.size() < 70 && i % 100 != 0) continue;
          for (Messages* messages : in_use) {
            if (messages->response()->requests() != mine) ++mixed;
            messages->Release();
          }
          in_use.clear();
        }
        for (Messages* messages : in_use) messages->Release();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(mixed, 0);
}

}  // namespace
}  // namespace cqbench
