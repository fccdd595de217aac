// The record of a method does what the method does, and its supplies are as those of the method's own types.
#include "src/workload/methods/message_method.h"

#include <gtest/gtest.h>

#include <string>

#include "src/workload/methods/methods.h"

namespace cqbench {
namespace {

using google::protobuf::MessageLite;

constexpr MessageStrategy kStrategies[] = {MessageStrategy::kFresh, MessageStrategy::kReused, MessageStrategy::kArena};

// `visit.operator()<M>(record)` for each method.
template <typename Visit>
void ForEachRecord(Visit visit) {
  int id = 0;
  AllMethods::ForEach([&]<typename M>() {
    SCOPED_TRACE(PathOf<M>());
    visit.template operator()<M>(MessageMethodOf(id++));
  });
}

RunConfig ConfigWith(MessageStrategy strategy) {
  RunConfig config;
  config.messages = strategy;
  config.message.request_bytes = 100;
  return config;
}

// Leaves something in the message that its next user must not find: an unknown field, which each type takes.
void Leave(MessageLite& message) {
  ASSERT_TRUE(message.MergeFromString(std::string("\xfa\x7f\x04left", 7)));
}

TEST(MessageMethod, RequestsAreFilledWhateverWasLeftInThem) {
  for (const MessageStrategy strategy : kStrategies) {
    const RunConfig config = ConfigWith(strategy);
    ForEachRecord([&]<typename M>(const MessageMethod& method) {
      typename M::Request filled;
      M::Fill(filled, config.message);
      MessageSupply<WithSerializer> supply(method.requests(config));
      ASSERT_EQ(supply.Current().message->GetTypeName(), filled.GetTypeName());
      EXPECT_EQ(supply.Current().message->SerializeAsString(), filled.SerializeAsString()) << "before the first Next()";
      const MessageLite* const first = supply.Next().message;
      for (int i = 0; i < 3; ++i) {
        MessageLite& message = *supply.Current().message;
        EXPECT_EQ(message.SerializeAsString(), filled.SerializeAsString()) << ToString(strategy);
        EXPECT_EQ(static_cast<typename M::Request&>(message).GetArena() != nullptr,
                  strategy == MessageStrategy::kArena);
        EXPECT_TRUE(&message == first || strategy == MessageStrategy::kArena) << "the object's memory is used again";
        if (strategy != MessageStrategy::kReused) Leave(message);
        supply.Next();
      }
    });
  }
}

TEST(MessageMethod, OnlyAReusedResponseKeepsItsContents) {
  for (const MessageStrategy strategy : kStrategies) {
    const RunConfig config = ConfigWith(strategy);
    ForEachRecord([&]<typename M>(const MessageMethod& method) {
      MessageSupply<WithSerializer> supply(method.responses(config));
      EXPECT_EQ(supply.keeps(), strategy == MessageStrategy::kReused);
      ASSERT_EQ(supply.Current().message->GetTypeName(), typename M::Response().GetTypeName());
      Leave(*supply.Current().message);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(supply.Next().message->ByteSizeLong(), supply.keeps() ? 7u : 0u) << ToString(strategy);
        if (!supply.keeps()) Leave(*supply.Current().message);
      }
    });
  }
}

TEST(MessageMethod, TheSerializerIsTheRuns) {
  for (const Serializer serializer : {Serializer::kProtobuf, Serializer::kReusingBuffers}) {
    RunConfig config;
    config.serializer = serializer;
    const MessageMethod method = MessageMethodOf(0);
    EXPECT_EQ(MessageSupply<WithSerializer>(method.requests(config)).Current().serializer, serializer);
    EXPECT_EQ(MessageSupply<WithSerializer>(method.responses(config)).Current().serializer, serializer);
  }
}

TEST(MessageMethod, ChecksAsTheMethodDoes) {
  const MessageConfig config{.response_bytes = 10};
  int refused = 0;
  ForEachRecord([&]<typename M>(const MessageMethod& method) {
    const typename M::Response response;
    EXPECT_EQ(method.check(response, config), M::Check(response, config));
    refused += M::Check(response, config).empty() ? 0 : 1;
  });
  EXPECT_GT(refused, 5) << "methods that refuse an empty response";
}

}  // namespace
}  // namespace cqbench
