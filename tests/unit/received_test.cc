// Received() recognizes the arrival of a response for all types, whatever they contained before.
#include "src/workload/messages/received.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "cqbench/proto/echo.grpc.pb.h"
#include "src/workload/methods/message_method.h"
#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

using v1::EchoResponse;

// Receives as the library does.
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

// Returns what a supply of R is made from.
template <typename R>
auto ResponsesFrom(const RunConfig& config) {
  if constexpr (std::is_same_v<R, WithSerializer>) {
    return MessageMethodOf(FindMethod("echo", "unary")->id).responses(config);
  } else {
    return config.messages;
  }
}

template <typename R>
class ReceivedTest : public testing::Test {};
using Responses = testing::Types<EchoResponse, WithSerializer>;
TYPED_TEST_SUITE(ReceivedTest, Responses);

TYPED_TEST(ReceivedTest, TellsAMessageFromNoneAndFromOtherBytes) {
  for (const MessageStrategy kind : {MessageStrategy::kFresh, MessageStrategy::kReused, MessageStrategy::kArena}) {
    for (const Serializer serializer : {Serializer::kProtobuf, Serializer::kReusingBuffers}) {
      RunConfig config;
      config.messages = kind;
      config.serializer = serializer;
      MessageSupply<Received<TypeParam>> supply(ResponsesFrom<TypeParam>(config));
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(supply.Next().arrival, Arrival::kNothing);
        EXPECT_EQ(Deliver(SomeMessage(), supply.Current()), Arrival::kMessage);
        EXPECT_EQ(supply.Next().arrival, Arrival::kNothing) << "though a reused message has its old content";
        EXPECT_EQ(Deliver("", supply.Current()), Arrival::kMessage) << "an empty message is one";
        EXPECT_EQ(Deliver(std::string(50, '\xff'), supply.Next()), Arrival::kUnreadable);
      }
    }
  }
}

TEST(Received, BytesThatAreUsedAgainHaveNotArrived) {
  MessageSupply<Received<grpc::ByteBuffer>> supply(MessageStrategy::kBytes);
  *supply.Current().message = BufferOf(SomeMessage());
  supply.Current().arrival = Arrival::kMessage;
  EXPECT_EQ(supply.Next().arrival, Arrival::kNothing);
  EXPECT_EQ(BytesOf(*supply.Current().message), SomeMessage());
}

TEST(Received, SaysWhatIsWrong) {
  EXPECT_EQ(DescribeMissing(Arrival::kMessage), "");
  EXPECT_NE(DescribeMissing(Arrival::kNothing), DescribeMissing(Arrival::kUnreadable));
}

}  // namespace
}  // namespace cqbench
