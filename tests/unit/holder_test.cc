// How messages live: what the next one is, and what is still in it.
#include "src/workload/messages/holder.h"

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

TEST(Holder, FreshMessagesAreEmptyAndOnTheHeap) {
  Holder<Request> holder(MessageHolder::kFresh);
  EXPECT_FALSE(holder.keeps());
  for (int i = 0; i < 100; ++i) {
    Request& message = holder.Next();
    EXPECT_TRUE(message.payload().empty());
    EXPECT_EQ(message.GetArena(), nullptr);
    message.set_payload(Long('x'));
    EXPECT_EQ(&holder.Current(), &message);
    EXPECT_EQ(holder.Current().payload(), Long('x'));
  }
}

TEST(Holder, AReusedMessageIsTheSameAsItWasLeft) {
  Holder<Request> holder(MessageHolder::kReused);
  EXPECT_TRUE(holder.keeps());
  Request* const first = &holder.Next();
  first->set_payload("left");
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(&holder.Next(), first);
    EXPECT_EQ(holder.Current().payload(), "left");
  }
}

TEST(Holder, MessagesOnAnArenaAreEmptyAndOnIt) {
  Holder<Request> holder(MessageHolder::kArena);
  EXPECT_FALSE(holder.keeps());
  for (int i = 0; i < 100; ++i) {
    Request& message = holder.Next();
    EXPECT_TRUE(message.payload().empty());
    ASSERT_NE(message.GetArena(), nullptr);
    message.set_payload(Long('x'));
    EXPECT_EQ(holder.Current().payload(), Long('x'));
  }
}

TEST(Holder, TheArenaDoesNotGrowFromMessageToMessage) {
  Holder<Request> holder(MessageHolder::kArena);
  const uint64_t at_first = holder.Next().GetArena()->SpaceUsed();
  EXPECT_GT(at_first, 0u);
  for (int i = 0; i < 1000; ++i) holder.Next();
  EXPECT_EQ(holder.Current().GetArena()->SpaceUsed(), at_first);
}

TEST(Holder, ThereIsAMessageBeforeTheFirstNext) {
  for (MessageHolder kind : {MessageHolder::kFresh, MessageHolder::kReused, MessageHolder::kArena}) {
    Holder<Request> holder(kind);
    holder.Current().set_payload("filled once");
    EXPECT_EQ(holder.Next().payload(), holder.keeps() ? "filled once" : "") << ToString(kind);
  }
}

TEST(Holder, BytesAreKept) {
  const grpc::Slice slice("left");
  Holder<grpc::ByteBuffer> holder(MessageHolder::kBytes);
  EXPECT_TRUE(holder.keeps());
  EXPECT_FALSE(holder.Next().Valid());
  holder.Current() = grpc::ByteBuffer(&slice, 1);
  EXPECT_EQ(holder.Next().Length(), 4u);
}

TEST(Holder, ByteBuffersMayBeFreshButNotOnAnArena) {
  const grpc::Slice slice("gone");
  for (MessageHolder kind : {MessageHolder::kFresh, MessageHolder::kArena}) {
    Holder<grpc::ByteBuffer> holder(kind);
    holder.Current() = grpc::ByteBuffer(&slice, 1);
    EXPECT_FALSE(holder.Next().Valid()) << ToString(kind);
  }
}

// Objects that wait for the next call do not keep what a large one needed.
TEST(Holder, LargeMessagesThatAreNotKeptAreGivenBack) {
  for (const MessageHolder kind : {MessageHolder::kFresh, MessageHolder::kArena}) {
    Holder<Request> holder(kind);
    holder.Next().set_payload(std::string(1 << 20, 'x'));
    holder.Rest();
    EXPECT_TRUE(holder.Current().payload().empty());
  }
}

TEST(Holder, ReusedMessagesKeepSoMuchTogether) {
  constexpr size_t kEach = size_t{8} << 20;
  const auto kept = [](std::vector<std::unique_ptr<Holder<Request>>>& holders) {
    size_t n = 0;
    for (auto& holder : holders) n += holder->Current().payload().empty() ? 0 : 1;
    return n;
  };
  const auto use = [](Holder<Request>& holder, size_t bytes) {
    holder.Next().set_payload(std::string(bytes, 'x'));
    holder.Rest();
  };
  std::vector<std::unique_ptr<Holder<Request>>> holders;
  for (int i = 0; i < 50; ++i) {
    holders.push_back(std::make_unique<Holder<Request>>(MessageHolder::kReused));
    use(*holders.back(), kEach);
  }
  EXPECT_EQ(kept(holders), KeptMemory::kMax / (kEach + 10));
  // One that is used for less gives up its part, which another gets.
  use(*holders.front(), 10);
  EXPECT_TRUE(holders.front()->Current().payload().empty());
  use(*holders.back(), kEach);
  EXPECT_FALSE(holders.back()->Current().payload().empty());
  holders.clear();
  use(*holders.emplace_back(std::make_unique<Holder<Request>>(MessageHolder::kReused)), KeptMemory::kMax - 1000);
  EXPECT_EQ(kept(holders), 1u);
}

}  // namespace
}  // namespace cqbench
