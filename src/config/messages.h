// Contents of requests and responses, strategies for their objects, and serializers.
#pragma once

#include <cstdint>

#include "cqbench/method_info.h"
#include "src/base/enum_names.h"
#include "src/config/payload_content.h"

namespace cqbench {

// How request and response objects live: constructed for each message; one that is used again and again; on a protobuf
// arena that is reset for each message; or not at all, only their bytes (through the generic stub or service).
enum class MessageStrategy { kFresh, kReused, kArena, kBytes };
constexpr auto NamesOf(MessageStrategy) {
  return std::to_array<EnumName<MessageStrategy>>({{MessageStrategy::kFresh, "fresh"},
                                                   {MessageStrategy::kReused, "reused"},
                                                   {MessageStrategy::kArena, "arena"},
                                                   {MessageStrategy::kBytes, "bytes"}});
}

enum class StubKind { kGenerated, kGeneric };
constexpr auto NamesOf(StubKind) {
  return std::to_array<EnumName<StubKind>>({{StubKind::kGenerated, "generated"}, {StubKind::kGeneric, "generic"}});
}

// How messages become bytes and bytes messages: as the library does it for generated code, or
// src/workload/messages/with_serializer.h with reused memory (through the generic stub or service).
enum class Serializer { kProtobuf, kReusingBuffers };
constexpr auto NamesOf(Serializer) {
  return std::to_array<EnumName<Serializer>>(
      {{Serializer::kProtobuf, "protobuf"}, {Serializer::kReusingBuffers, "buffer-reusing"}});
}

enum class Content { kEmpty, kComplex };
constexpr auto NamesOf(Content) {
  return std::to_array<EnumName<Content>>({{Content::kEmpty, "empty"}, {Content::kComplex, "complex"}});
}

// A hint to the library for all but the last message of a stream: none; the library may wait for more and send them
// together (WriteOptions::set_buffer_hint); or also keep the headers until the first message.
enum class WriteHint { kNone, kBuffer, kCorked };
constexpr auto NamesOf(WriteHint) {
  return std::to_array<EnumName<WriteHint>>(
      {{WriteHint::kNone, "none"}, {WriteHint::kBuffer, "buffer"}, {WriteHint::kCorked, "corked"}});
}

// Which of several requests that were given is sent next: in turn, or drawn at random.
enum class DataOrder { kRotate, kRandom };
constexpr auto NamesOf(DataOrder) {
  return std::to_array<EnumName<DataOrder>>({{DataOrder::kRotate, "rotate"}, {DataOrder::kRandom, "random"}});
}

inline constexpr int kMaxStreamMessages = 1'000'000;
inline constexpr uint32_t kMaxPayloadBytes = 64u << 20;

// Contents of requests and responses, for methods with a payload or with contents to choose from.
struct MessageConfig {
  uint32_t request_bytes = 0;
  uint32_t response_bytes = 0;
  PayloadContent payload{};
  uint64_t payload_seed = 1;
  int stream_messages = 16;  // of a client- or server-streaming call
  Content content = Content::kEmpty;
};

// Returns how many messages a server answers in a call that ends well (bidi: to one message of ours).
inline int ResponsesPerCall(const MethodInfo& method, const MessageConfig& config) {
  return method.shape == Shape::kServerStreaming ? config.stream_messages : 1;
}

// Returns the payload of all messages that a client- or server-streaming call of chunks moves; 0 for other methods.
inline uint64_t ChunkBytesPerCall(const MethodInfo& method, const MessageConfig& config) {
  if (!method.streams_chunks()) return 0;
  const uint32_t chunk = method.shape == Shape::kClientStreaming ? config.request_bytes : config.response_bytes;
  return static_cast<uint64_t>(config.stream_messages) * chunk;
}

}  // namespace cqbench
