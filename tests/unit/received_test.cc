// Whether a response arrived is known whatever it was read into, and what was in it before.
#include "src/workload/messages/received.h"

#include <gtest/gtest.h>

#include <string>

#include "cqbench/proto/echo.grpc.pb.h"
#include "src/workload/messages/coded.h"
#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

using v1::EchoResponse;

// As the library does it.
template <typename R>
Arrival Deliver(const std::string& bytes, Received<R>& received) {
  grpc::ByteBuffer buffer = BufferOf(bytes);
  EXPECT_TRUE(grpc::SerializationTraits<Received<R>>::Deserialize(&buffer, &received).ok()) << "it would abort";
  return received.arrival;
}

std::string SomeMessage() {
  EchoResponse response;
  response.set_payload("payload");
  return response.SerializeAsString();
}

template <typename R>
class ReceivedTest : public testing::Test {};
using Responses = testing::Types<EchoResponse, Coded<EchoResponse>>;
TYPED_TEST_SUITE(ReceivedTest, Responses);

TYPED_TEST(ReceivedTest, TellsAMessageFromNoneAndFromOtherBytes) {
  for (const MessageHolder kind : {MessageHolder::kFresh, MessageHolder::kReused, MessageHolder::kArena}) {
    for (const Codec codec : {Codec::kProtobuf, Codec::kPooled}) {
      Holder<Received<TypeParam>> holder(kind, codec);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(holder.Next().arrival, Arrival::kNothing);
        EXPECT_EQ(Deliver(SomeMessage(), holder.Current()), Arrival::kMessage);
        EXPECT_EQ(holder.Next().arrival, Arrival::kNothing) << "though a reused message has its old content";
        EXPECT_EQ(Deliver("", holder.Current()), Arrival::kMessage) << "an empty message is one";
        EXPECT_EQ(Deliver(std::string(50, '\xff'), holder.Next()), Arrival::kUnreadable);
      }
    }
  }
}

TEST(Received, BytesThatAreUsedAgainHaveNotArrived) {
  Holder<Received<grpc::ByteBuffer>> holder(MessageHolder::kBytes, Codec::kProtobuf);
  *holder.Current().message = BufferOf(SomeMessage());
  holder.Current().arrival = Arrival::kMessage;
  EXPECT_EQ(holder.Next().arrival, Arrival::kNothing);
  EXPECT_EQ(BytesOf(*holder.Current().message), SomeMessage());
}

TEST(Received, SaysWhatIsWrong) {
  EXPECT_EQ(WhyNoMessage(Arrival::kMessage), "");
  EXPECT_NE(WhyNoMessage(Arrival::kNothing), WhyNoMessage(Arrival::kUnreadable));
}

}  // namespace
}  // namespace cqbench
