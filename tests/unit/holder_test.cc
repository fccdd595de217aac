// How messages live: what the next one is, and what is still in it.
#include "src/method/holder.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace cqbench
