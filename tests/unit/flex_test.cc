// The flex method gives the same results on bytes as on messages, and a wrong value of any field is detected.
#include "src/workload/methods/flex.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr Content kContents[] = {Content::kEmpty, Content::kComplex};

MessageConfig With(Content content) {
  MessageConfig config;
  config.content = content;
  return config;
}

flex::FlexRequest Request(Content content) {
  flex::FlexRequest request;
  FlexNormal::Fill(request, With(content));
  return request;
}

flex::FlexReply AnswerTo(const flex::FlexRequest& request) {
  flex::FlexReply reply;
  EXPECT_TRUE(FlexNormal::Handle(request, &reply).ok());
  return reply;
}

void ExpectVerdict(const flex::FlexReply& reply, Content content, bool right) {
  EXPECT_EQ(FlexNormal::Check(reply, With(content)).empty(), right) << reply.ShortDebugString();
  EXPECT_EQ(FlexNormal::CheckBytes(BufferOf(reply.SerializeAsString()), With(content)),
            FlexNormal::Check(reply, With(content)));
}

TEST(Flex, RequestsAreThoseOfTheScenarios) {
  for (Content content : kContents) {
    const std::string file = std::string(CQBENCH_SCENARIOS) + "/" + std::string(ToString(content)) + ".json";
    std::ifstream in(file);
    const auto scenario = nlohmann::json::parse(in);
    flex::FlexRequest expected;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(scenario.at("data").dump(), &expected).ok());
    EXPECT_EQ(Request(content).SerializeAsString(), expected.SerializeAsString()) << file;
    EXPECT_EQ(scenario.at("call"), "flex.FlexService/NormalRPC");
    EXPECT_EQ(PathOf<FlexNormal>(), "/flex.FlexService/NormalRPC");
  }
}

TEST(Flex, TheComplexMessageHasEveryField) {
  const flex::ComplexType msg = Request(Content::kComplex).msg();
  std::vector<const FieldDescriptor*> set;
  msg.GetReflection()->ListFields(msg, &set);
  EXPECT_EQ(static_cast<int>(set.size()), flex::ComplexType::descriptor()->field_count());
}

TEST(Flex, AnswersAreTheRequestAndWhatMessagesGive) {
  for (Content before : kContents) {
    for (Content content : kContents) {
      flex::FlexReply reply = AnswerTo(Request(before));  // a reused message
      ASSERT_TRUE(FlexNormal::Handle(Request(content), &reply).ok());
      ExpectVerdict(reply, content, true);
      ExpectVerdict(reply, content == Content::kEmpty ? Content::kComplex : Content::kEmpty, false);
      grpc::ByteBuffer bytes;
      ASSERT_TRUE(FlexNormal::HandleBytes(BufferOf(Request(content).SerializeAsString()), &bytes).ok());
      EXPECT_EQ(BytesOf(bytes), reply.SerializeAsString());
    }
  }
}

TEST(Flex, AnyFieldThatIsWrongOrMissingIsSeen) {
  const flex::FlexReply right = AnswerTo(Request(Content::kComplex));
  const auto* type = flex::ComplexType::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    flex::FlexReply reply = right;
    reply.msg().GetReflection()->ClearField(reply.mutable_msg(), type->field(i));
    SCOPED_TRACE(type->field(i)->full_name());
    ExpectVerdict(reply, Content::kComplex, false);
  }
  flex::FlexReply reply = right;
  reply.mutable_msg()->set_stringfield("hello worle");
  ExpectVerdict(reply, Content::kComplex, false);
  reply = right;
  reply.mutable_msg()->add_repeatedmsgfield();
  ExpectVerdict(reply, Content::kComplex, false);
  reply.mutable_msg()->Clear();  // present, but without a field
  ExpectVerdict(reply, Content::kEmpty, false);
}

// Another library may write the fields in another order.
TEST(Flex, BytesInAnotherOrderAreRight) {
  flex::FlexReply first, second;
  first.mutable_msg()->set_doublefield(Request(Content::kComplex).msg().doublefield());
  second = AnswerTo(Request(Content::kComplex));
  second.mutable_msg()->clear_doublefield();
  const std::string swapped = second.SerializeAsString() + first.SerializeAsString();  // merge
  ASSERT_NE(swapped, AnswerTo(Request(Content::kComplex)).SerializeAsString());
  EXPECT_EQ(FlexNormal::CheckBytes(BufferOf(swapped), With(Content::kComplex)), "");
}

// For bytes cut at any place, generic server and parser agree whether they are a message.
TEST(Flex, TruncatedRequestsAreRefused) {
  const std::string whole = Request(Content::kComplex).SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    grpc::ByteBuffer bytes;
    EXPECT_EQ(FlexNormal::HandleBytes(BufferOf(cut), &bytes).ok(), flex::FlexRequest().ParseFromString(cut)) << size;
  }
  for (const char* hostile : {"\x0a\x02\x08", "\x0a\x01\xff", "\x0a\xff\xff\xff\xff\x0f", "\x0a\x02\x0f\x01", "\xff"}) {
    grpc::ByteBuffer bytes;
    EXPECT_EQ(FlexNormal::HandleBytes(BufferOf(hostile), &bytes).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_FALSE(flex::FlexRequest().ParseFromString(hostile));
    EXPECT_NE(FlexNormal::CheckBytes(BufferOf(hostile), With(Content::kComplex)), "");
  }
}

}  // namespace
}  // namespace cqbench
