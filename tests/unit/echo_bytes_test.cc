// The echo's methods give the same results on bytes, for the generic server, as on messages.
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/workload/methods/echo.h"
#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

using v1::EchoRequest;
using v1::EchoResponse;

EchoRequest Request(uint32_t response_bytes, v1::Payload kind, uint32_t responses = 0) {
  EchoRequest request;
  request.set_payload(std::string(77, 'q'));
  request.set_response_bytes(response_bytes);
  request.set_response_payload(kind);
  request.set_responses(responses);
  return request;
}

constexpr v1::Payload kKinds[] = {v1::ZERO, v1::TEXT, v1::RANDOM};
constexpr uint32_t kResponseSizes[] = {0, 1, 127, 128, 100'000};

TEST(EchoBytes, AnswersAreWhatMessagesGive) {
  for (v1::Payload kind : kKinds) {
    for (uint32_t size : kResponseSizes) {
      EchoResponse response;
      grpc::ByteBuffer bytes;
      ASSERT_TRUE(EchoUnary::Handle(Request(size, kind), &response).ok());
      ASSERT_TRUE(EchoUnary::HandleBytes(BufferOf(Request(size, kind)), &bytes).ok());
      EXPECT_EQ(response.payload().size(), size);
      EXPECT_TRUE(BytesOf(bytes) == response.SerializeAsString()) << size << " " << kind;
    }
  }
}

TEST(EchoBytes, UploadsAreAnsweredAsWithMessages) {
  for (size_t count : {size_t{0}, size_t{1}, size_t{3}, size_t{200}}) {
    for (v1::Payload kind : kKinds) {
      EchoUpload::Gathered as_messages, as_bytes;
      for (size_t i = 1; i <= count; ++i) {
        const EchoRequest request = i < count ? Request(5, v1::ZERO) : Request(300, kind);
        ASSERT_TRUE(EchoUpload::Take(request, as_messages).ok());
        ASSERT_TRUE(EchoUpload::TakeBytes(BufferOf(request), as_bytes).ok());
      }
      EchoResponse response;
      grpc::ByteBuffer bytes;
      ASSERT_TRUE(EchoUpload::Respond(as_messages, &response).ok());
      ASSERT_TRUE(EchoUpload::RespondBytes(as_bytes, &bytes).ok());
      EXPECT_EQ(response.requests(), count);
      EXPECT_EQ(response.payload().size(), count == 0 ? 0u : 300u);
      EXPECT_TRUE(BytesOf(bytes) == response.SerializeAsString()) << count << " " << kind;
    }
  }
}

TEST(EchoBytes, DownloadsAreCountedAsWithMessages) {
  for (uint32_t responses : {0u, 1u, 128u, 1'000'000u, 1'000'001u, UINT32_MAX}) {
    uint32_t from_message = 7, from_bytes = 7;
    const EchoRequest request = Request(1, v1::ZERO, responses);
    const bool accepted = responses <= 1'000'000;
    EXPECT_EQ(EchoDownload::CountResponses(request, &from_message).ok(), accepted);
    EXPECT_EQ(EchoDownload::CountResponsesInBytes(BufferOf(request), &from_bytes).ok(), accepted);
    EXPECT_EQ(from_message, accepted ? responses : 7);
    EXPECT_EQ(from_bytes, from_message);
  }
}

TEST(EchoBytes, TooLargeIsRefusedInTheSameWords) {
  const EchoRequest request = Request((64 << 20) + 1, v1::ZERO);
  EchoResponse response;
  grpc::ByteBuffer bytes;
  EchoUpload::Gathered gathered;
  const grpc::Status expected = EchoUnary::Handle(request, &response);
  EXPECT_EQ(expected.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  for (const grpc::Status& status :
       {EchoUnary::HandleBytes(BufferOf(request), &bytes), EchoUpload::Take(request, gathered),
        EchoUpload::TakeBytes(BufferOf(request), gathered), EchoDownload::Handle(request, &response),
        EchoDownload::HandleBytes(BufferOf(request), &bytes)}) {
    EXPECT_EQ(status.error_code(), expected.error_code());
    EXPECT_EQ(status.error_message(), expected.error_message());
  }
  EXPECT_EQ(gathered.requests, 0u);
}

TEST(EchoBytes, WhatIsNoRequestIsRefused) {
  grpc::ByteBuffer bytes;
  EchoUpload::Gathered gathered;
  uint32_t count = 0;
  const grpc::ByteBuffer garbage = BufferOf(std::string("\x0f\xff"));
  for (const grpc::Status& status : {EchoUnary::HandleBytes(garbage, &bytes), EchoUpload::TakeBytes(garbage, gathered),
                                     EchoDownload::CountResponsesInBytes(garbage, &count)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
}

// Client.
template <typename M>
void ExpectSameVerdict(const EchoResponse& response, const MessageConfig& config, bool right) {
  EXPECT_EQ(M::Check(response, config).empty(), right);
  EXPECT_EQ(M::CheckBytes(BufferOf(response), config), M::Check(response, config));
}

TEST(EchoBytes, AnswersAreCheckedAsWithMessages) {
  MessageConfig config;
  config.response_bytes = 100;
  config.stream_messages = 3;
  for (size_t size : {size_t{0}, size_t{99}, size_t{100}, size_t{101}}) {
    for (uint32_t requests : {0u, 2u, 3u}) {
      EchoResponse response;
      response.set_payload(std::string(size, 'p'));
      response.set_requests(requests);
      ExpectSameVerdict<EchoUnary>(response, config, size == 100);
      ExpectSameVerdict<EchoDownload>(response, config, size == 100);
      ExpectSameVerdict<EchoUpload>(response, config, size == 100 && requests == 3);
    }
  }
}

TEST(EchoBytes, GarbageIsAWrongAnswer) {
  const grpc::ByteBuffer garbage = BufferOf(std::string("\x0f\xff"));
  EXPECT_FALSE(EchoUnary::CheckBytes(garbage, MessageConfig()).empty());
  EXPECT_FALSE(EchoUpload::CheckBytes(garbage, MessageConfig()).empty());
}

TEST(EchoFill, SaysWhatIsAskedFor) {
  MessageConfig config;
  config.request_bytes = 10;
  config.response_bytes = 20;
  config.payload = PayloadKind::kText;
  config.stream_messages = 30;
  EchoRequest request;
  EchoDownload::Fill(request, config);
  EXPECT_EQ(request.payload().size(), 10u);
  EXPECT_EQ(request.response_bytes(), 20u);
  EXPECT_EQ(request.response_payload(), v1::TEXT);
  EXPECT_EQ(request.responses(), 30u);
  EchoRequest unary;
  EchoUnary::Fill(unary, config);
  EXPECT_EQ(unary.responses(), 0u);
}

}  // namespace
}  // namespace cqbench
