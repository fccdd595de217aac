// Payloads of a chosen size in each direction, in each shape. See method.h for what a method is.
#pragma once

#include <string>

#include "cqbench/proto/echo.grpc.pb.h"
#include "src/workload/messages/payload.h"
#include "src/workload/messages/wire.h"
#include "src/workload/methods/method.h"
#include "src/workload/methods/response_limit.h"

namespace cqbench {

struct EchoMessages {
  using Request = v1::EchoRequest;
  using Response = v1::EchoResponse;
  static constexpr char kWorkload[] = "echo";
  static constexpr bool kHasPayload = true;
  static constexpr uint64_t kServerSeed = 1;  // of response payloads

  static void Fill(Request& request, const MessageConfig& config) {
    request.set_response_bytes(config.response_bytes);
    request.set_response_payload(static_cast<v1::Payload>(config.payload.kind));
    request.set_response_entropy_tenths(config.payload.tenths);
    PayloadOf(config.payload, config.payload_seed).Fill(request.mutable_payload(), config.request_bytes);
  }
  static absl::string_view Check(const Response& response, const MessageConfig& config) {
    return response.payload().size() == config.response_bytes ? absl::string_view() : kWrongSize;
  }
  static absl::string_view CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& config) {
    uint64_t size = 0;
    return wire::FindBytesSize(response, 1, &size) && size == config.response_bytes ? absl::string_view() : kWrongSize;
  }

  static grpc::Status Handle(const Request& request, Response* response) {
    if (IsTooLarge(request.response_bytes())) return TooLarge(kSizeField);
    PayloadOf(ContentOf(request), kServerSeed).Fill(response->mutable_payload(), request.response_bytes());
    return grpc::Status::OK;
  }
  static grpc::Status HandleBytes(const grpc::ByteBuffer& request, grpc::ByteBuffer* response) {
    uint64_t bytes = 0;
    PayloadContent content;
    if (!FindAsked(request, &bytes, &content)) return NotARequest();
    if (IsTooLarge(bytes)) return TooLarge(kSizeField);
    const grpc::Slice slice = wire::BytesField(1, bytes, PayloadOf(content, kServerSeed));
    *response = grpc::ByteBuffer(&slice, 1);
    return grpc::Status::OK;
  }

 protected:
  static constexpr char kWrongSize[] = "the response does not have the size that was asked for";

  static PayloadContent ContentOf(const Request& request) {
    return cqbench::ContentOf(request.response_payload(), request.response_entropy_tenths());
  }
  // Reads the requested size and content of the response's payload.
  static bool FindAsked(const grpc::ByteBuffer& request, uint64_t* bytes, PayloadContent* content) {
    uint64_t kind = 0, tenths = 0;
    if (!wire::FindVarint(request, 1, bytes) || !wire::FindVarint(request, 4, &kind)) return false;
    if (kind == v1::ENTROPY && !wire::FindVarint(request, 5, &tenths)) return false;
    *content = cqbench::ContentOf(static_cast<int>(kind), tenths);
    return true;
  }
  static constexpr char kSizeField[] = "response_bytes";
  static grpc::Status NotARequest() {
    return {grpc::StatusCode::INVALID_ARGUMENT, "the request is not an EchoRequest"};
  }
};

struct EchoUnary : EchoMessages {
  static constexpr char kName[] = "unary";
  CQBENCH_UNARY(v1::EchoService, Echo);
};

struct EchoStreaming : EchoMessages {
  static constexpr char kName[] = "streaming";
  CQBENCH_BIDI(v1::EchoService, EchoStream);
};

struct EchoUpload : EchoMessages {
  static constexpr char kName[] = "upload";
  CQBENCH_CLIENT_STREAMING(v1::EchoService, Upload);

  static absl::string_view Check(const Response& response, const MessageConfig& config) {
    if (response.requests() != static_cast<uint32_t>(config.stream_messages)) return kWrongCount;
    return EchoMessages::Check(response, config);
  }
  static absl::string_view CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& config) {
    uint64_t requests = 0;
    if (!wire::FindVarint(response, 2, &requests) || requests != static_cast<uint64_t>(config.stream_messages)) {
      return kWrongCount;
    }
    return EchoMessages::CheckBytes(response, config);
  }

  struct Gathered {
    uint32_t requests = 0;
    uint32_t response_bytes = 0;
    PayloadContent content;
  };
  static grpc::Status Take(const Request& request, Gathered& gathered) {
    return Add(request.response_bytes(), ContentOf(request), gathered);
  }
  static grpc::Status TakeBytes(const grpc::ByteBuffer& request, Gathered& gathered) {
    uint64_t bytes = 0;
    PayloadContent content;
    if (!FindAsked(request, &bytes, &content)) return NotARequest();
    return Add(bytes, content, gathered);
  }
  static grpc::Status Respond(const Gathered& gathered, Response* response) {
    response->set_requests(gathered.requests);
    PayloadOf(gathered.content, kServerSeed).Fill(response->mutable_payload(), gathered.response_bytes);
    return grpc::Status::OK;
  }
  static grpc::Status RespondBytes(const Gathered& gathered, grpc::ByteBuffer* response) {
    const grpc::Slice slices[] = {
        wire::BytesField(1, gathered.response_bytes, PayloadOf(gathered.content, kServerSeed)),
        wire::VarintSlice(2, gathered.requests)};
    *response = grpc::ByteBuffer(slices, 2);
    return grpc::Status::OK;
  }

 private:
  static constexpr char kWrongCount[] = "the server did not get as many requests as were sent";

  static grpc::Status Add(uint64_t response_bytes, const PayloadContent& content, Gathered& gathered) {
    if (IsTooLarge(response_bytes)) return TooLarge(kSizeField);
    ++gathered.requests;
    gathered.response_bytes = static_cast<uint32_t>(response_bytes);
    gathered.content = content;
    return grpc::Status::OK;
  }
};

struct EchoDownload : EchoMessages {
  static constexpr char kName[] = "download";
  CQBENCH_SERVER_STREAMING(v1::EchoService, Download);

  static void Fill(Request& request, const MessageConfig& config) {
    EchoMessages::Fill(request, config);
    request.set_responses(static_cast<uint32_t>(config.stream_messages));
  }

  static grpc::Status CountResponses(const Request& request, uint32_t* count) {
    return Limited(request.responses(), count);
  }
  static grpc::Status CountResponsesInBytes(const grpc::ByteBuffer& request, uint32_t* count) {
    uint64_t responses = 0;
    if (!wire::FindVarint(request, 3, &responses)) return NotARequest();
    return Limited(responses, count);
  }

 private:
  static grpc::Status Limited(uint64_t responses, uint32_t* count) {
    if (responses > kMaxStreamMessages) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "responses is more than 1,000,000"};
    }
    *count = static_cast<uint32_t>(responses);
    return grpc::Status::OK;
  }
};

}  // namespace cqbench
