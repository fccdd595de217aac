// Streams of chunks, one way: the upload and download of a large blob. See method.h for what a method is.
#pragma once

#include <algorithm>
#include <string>

#include "cqbench/proto/myservice.grpc.pb.h"
#include "src/workload/messages/payload.h"
#include "src/workload/messages/wire.h"
#include "src/workload/methods/method.h"
#include "src/workload/methods/response_limit.h"

namespace cqbench {

struct BlobMessages {
  static constexpr char kWorkload[] = "blob";
  static constexpr bool kHasPayload = true;
  static constexpr ChunkedStream kChunked{.chunk_bytes = 16 << 10, .chunks = 1024};  // the talk's
  static constexpr uint64_t kServerSeed = 1;                                         // of what Get sends
  static constexpr uint32_t kDataField = 2;                                          // of Chunk

 protected:
  static grpc::Status NotA(const char* message) {
    return {grpc::StatusCode::INVALID_ARGUMENT, std::string("the request is not a ") + message};
  }
};

struct BlobPut : BlobMessages {
  using Request = ::Chunk;
  using Response = ::PutResult;
  static constexpr char kName[] = "put";
  CQBENCH_CLIENT_STREAMING(::MyService, Put);

  static void Fill(Request& request, const MessageConfig& config) {
    PayloadOf(config.payload, config.payload_seed).Fill(request.mutable_data(), config.request_bytes);
  }
  static absl::string_view Check(const Response& response, const MessageConfig& config) {
    return CheckCounts(response.chunks(), response.bytes(), config);
  }
  static absl::string_view CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& config) {
    uint64_t chunks = 0, bytes = 0;
    if (!wire::FindVarint(response, 1, &chunks) || !wire::FindVarint(response, 2, &bytes)) {
      return "the response is not a PutResult";
    }
    return CheckCounts(chunks, bytes, config);
  }

  struct Gathered {
    uint64_t chunks = 0;
    uint64_t bytes = 0;
  };
  static grpc::Status Take(const Request& request, Gathered& gathered) { return Add(request.data().size(), gathered); }
  static grpc::Status TakeBytes(const grpc::ByteBuffer& request, Gathered& gathered) {
    uint64_t size = 0;
    return wire::FindBytesSize(request, kDataField, &size) ? Add(size, gathered) : NotA("Chunk");
  }
  static grpc::Status Respond(const Gathered& gathered, Response* response) {
    response->set_chunks(gathered.chunks);
    response->set_bytes(gathered.bytes);
    return grpc::Status::OK;
  }
  static grpc::Status RespondBytes(const Gathered& gathered, grpc::ByteBuffer* response) {
    const grpc::Slice slices[] = {wire::VarintSlice(1, gathered.chunks), wire::VarintSlice(2, gathered.bytes)};
    *response = grpc::ByteBuffer(slices, 2);
    return grpc::Status::OK;
  }

 private:
  static grpc::Status Add(uint64_t bytes, Gathered& gathered) {
    ++gathered.chunks;
    gathered.bytes += bytes;
    return grpc::Status::OK;
  }
  static absl::string_view CheckCounts(uint64_t chunks, uint64_t bytes, const MessageConfig& config) {
    const auto sent = static_cast<uint64_t>(config.stream_messages);
    if (chunks != sent) return "the server did not get as many chunks as were sent";
    return bytes == sent * config.request_bytes ? "" : "the server did not get as many bytes as were sent";
  }
};

struct BlobGet : BlobMessages {
  using Request = ::GetRequest;
  using Response = ::Chunk;
  static constexpr char kName[] = "get";
  CQBENCH_SERVER_STREAMING(::MyService, Get);

  static void Fill(Request& request, const MessageConfig& config) {
    request.set_chunks(static_cast<uint32_t>(config.stream_messages));
    request.set_chunk_bytes(config.response_bytes);
    request.set_payload(static_cast<v1::Payload>(config.payload.kind));
    request.set_entropy_tenths(config.payload.tenths);
  }
  // The size, and the ends: a chunk that has these is not torn. To compare all of it would be part of the cost.
  static absl::string_view Check(const Response& response, const MessageConfig& config) {
    if (response.data().size() != config.response_bytes) return kWrongSize;
    return PayloadOf(config.payload, kServerSeed).HasEnds(PayloadEnds::Of(response.data())) ? "" : kWrongData;
  }
  static absl::string_view CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& config) {
    PayloadEnds ends;
    if (!wire::FindBytesEnds(response, kDataField, &ends) || ends.size != config.response_bytes) return kWrongSize;
    return PayloadOf(config.payload, kServerSeed).HasEnds(ends) ? "" : kWrongData;
  }

  static grpc::Status CountResponses(const Request& request, uint32_t* count) {
    return Limited(request.has_chunks() ? request.chunks() : kChunked.chunks, count);
  }
  static grpc::Status CountResponsesInBytes(const grpc::ByteBuffer& request, uint32_t* count) {
    uint64_t chunks = 0;
    if (!wire::FindVarint(request, 1, &chunks, kChunked.chunks)) return NotA("GetRequest");
    return Limited(chunks, count);
  }
  static grpc::Status Handle(const Request& request, Response* response) {
    const uint32_t bytes = request.has_chunk_bytes() ? request.chunk_bytes() : kChunked.chunk_bytes;
    if (IsTooLarge(bytes)) return TooLarge(kSizeField);
    PayloadOf(ContentOf(request.payload(), request.entropy_tenths()), kServerSeed)
        .Fill(response->mutable_data(), bytes);
    return grpc::Status::OK;
  }
  // Every chunk of a stream is the same slice.
  static grpc::Status HandleBytes(const grpc::ByteBuffer& request, grpc::ByteBuffer* response) {
    uint64_t bytes = 0, kind = 0, tenths = 0;
    if (!wire::FindVarint(request, 2, &bytes, kChunked.chunk_bytes) || !wire::FindVarint(request, 3, &kind) ||
        (kind == cqbench::v1::ENTROPY && !wire::FindVarint(request, 4, &tenths))) {
      return NotA("GetRequest");
    }
    if (IsTooLarge(bytes)) return TooLarge(kSizeField);
    const PayloadSource& payload = PayloadOf(ContentOf(static_cast<int>(kind), tenths), kServerSeed);
    const grpc::Slice& slice = wire::SharedBytesField(kDataField, bytes, payload);
    *response = grpc::ByteBuffer(&slice, 1);
    return grpc::Status::OK;
  }

 private:
  static constexpr char kWrongSize[] = "a chunk does not have the size that was asked for";
  static constexpr char kWrongData[] = "a chunk does not begin and end with the data that was asked for";

  static constexpr char kSizeField[] = "chunk_bytes";
  static grpc::Status Limited(uint64_t chunks, uint32_t* count) {
    if (chunks > kMaxStreamMessages) return {grpc::StatusCode::INVALID_ARGUMENT, "chunks is more than 1,000,000"};
    *count = static_cast<uint32_t>(chunks);
    return grpc::Status::OK;
  }
};

}  // namespace cqbench
