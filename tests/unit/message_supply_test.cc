// How messages live: what the next one is, and what is still in it.
#include "src/workload/messages/message_supply.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cqbench/proto/echo.pb.h"

namespace cqbench {
namespace {

using Request = v1::EchoRequest;

std::string Long(char c) {
  return std::string(10'000, c);
}

TEST(MessageSupply, FreshMessagesAreEmptyAndOnTheHeap) {
  MessageSupply<Request> supply(MessageStrategy::kFresh);
  EXPECT_FALSE(supply.keeps());
  for (int i = 0; i < 100; ++i) {
    Request& message = supply.Next();
    EXPECT_TRUE(message.payload().empty());
    EXPECT_EQ(message.GetArena(), nullptr);
    message.set_payload(Long('x'));
    EXPECT_EQ(&supply.Current(), &message);
    EXPECT_EQ(supply.Current().payload(), Long('x'));
  }
}

TEST(MessageSupply, AReusedMessageIsTheSameAsItWasLeft) {
  MessageSupply<Request> supply(MessageStrategy::kReused);
  EXPECT_TRUE(supply.keeps());
  Request* const first = &supply.Next();
  first->set_payload("left");
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(&supply.Next(), first);
    EXPECT_EQ(supply.Current().payload(), "left");
  }
}

TEST(MessageSupply, MessagesOnAnArenaAreEmptyAndOnIt) {
  MessageSupply<Request> supply(MessageStrategy::kArena);
  EXPECT_FALSE(supply.keeps());
  for (int i = 0; i < 100; ++i) {
    Request& message = supply.Next();
    EXPECT_TRUE(message.payload().empty());
    ASSERT_NE(message.GetArena(), nullptr);
    message.set_payload(Long('x'));
    EXPECT_EQ(supply.Current().payload(), Long('x'));
  }
}

TEST(MessageSupply, TheArenaDoesNotGrowFromMessageToMessage) {
  MessageSupply<Request> supply(MessageStrategy::kArena);
  const uint64_t at_first = supply.Next().GetArena()->SpaceUsed();
  EXPECT_GT(at_first, 0u);
  for (int i = 0; i < 1000; ++i) supply.Next();
  EXPECT_EQ(supply.Current().GetArena()->SpaceUsed(), at_first);
}

TEST(MessageSupply, ThereIsAMessageBeforeTheFirstNext) {
  for (MessageStrategy kind : {MessageStrategy::kFresh, MessageStrategy::kReused, MessageStrategy::kArena}) {
    MessageSupply<Request> supply(kind);
    supply.Current().set_payload("filled once");
    EXPECT_EQ(supply.Next().payload(), supply.keeps() ? "filled once" : "") << ToString(kind);
  }
}

TEST(MessageSupply, BytesAreKept) {
  const grpc::Slice slice("left");
  MessageSupply<grpc::ByteBuffer> supply(MessageStrategy::kBytes);
  EXPECT_TRUE(supply.keeps());
  EXPECT_FALSE(supply.Next().Valid());
  supply.Current() = grpc::ByteBuffer(&slice, 1);
  EXPECT_EQ(supply.Next().Length(), 4u);
}

TEST(MessageSupply, ByteBuffersMayBeFreshButNotOnAnArena) {
  const grpc::Slice slice("gone");
  for (MessageStrategy kind : {MessageStrategy::kFresh, MessageStrategy::kArena}) {
    MessageSupply<grpc::ByteBuffer> supply(kind);
    supply.Current() = grpc::ByteBuffer(&slice, 1);
    EXPECT_FALSE(supply.Next().Valid()) << ToString(kind);
  }
}

// Objects that wait for the next call do not keep what a large one needed.
TEST(MessageSupply, LargeMessagesThatAreNotKeptAreGivenBack) {
  for (const MessageStrategy kind : {MessageStrategy::kFresh, MessageStrategy::kArena}) {
    MessageSupply<Request> supply(kind);
    supply.Next().set_payload(std::string(1 << 20, 'x'));
    supply.Rest();
    EXPECT_TRUE(supply.Current().payload().empty());
  }
}

TEST(MessageSupply, ReusedMessagesKeepSoMuchTogether) {
  constexpr size_t kEach = size_t{8} << 20;
  const auto kept = [](std::vector<std::unique_ptr<MessageSupply<Request>>>& supplies) {
    size_t n = 0;
    for (auto& supply : supplies) n += supply->Current().payload().empty() ? 0 : 1;
    return n;
  };
  const auto use = [](MessageSupply<Request>& supply, size_t bytes) {
    supply.Next().set_payload(std::string(bytes, 'x'));
    supply.Rest();
  };
  std::vector<std::unique_ptr<MessageSupply<Request>>> supplies;
  for (int i = 0; i < 50; ++i) {
    supplies.push_back(std::make_unique<MessageSupply<Request>>(MessageStrategy::kReused));
    use(*supplies.back(), kEach);
  }
  EXPECT_EQ(kept(supplies), KeptMemory::kMax / (kEach + 10));
  // One that is used for less gives up its part, which another gets.
  use(*supplies.front(), 10);
  EXPECT_TRUE(supplies.front()->Current().payload().empty());
  use(*supplies.back(), kEach);
  EXPECT_FALSE(supplies.back()->Current().payload().empty());
  supplies.clear();
  use(*supplies.emplace_back(std::make_unique<MessageSupply<Request>>(MessageStrategy::kReused)),
      KeptMemory::kMax - 1000);
  EXPECT_EQ(kept(supplies), 1u);
}

}  // namespace
}  // namespace cqbench
