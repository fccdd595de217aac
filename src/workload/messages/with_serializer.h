// Messages with a serializer of choice: what grpc::SerializationTraits are for. The generic stub and the generic server
// know messages in this form.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/impl/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <utility>

#include "src/workload/messages/message_supply.h"
#include "src/workload/messages/slice_pool.h"

namespace cqbench {

// Into one slice of the pool, without asking for the size a second time or for memory piece by piece.
template <typename M>
grpc::Status SerializeReusingBuffers(const M& message, grpc::ByteBuffer* bytes) {
  const size_t size = message.ByteSizeLong();
  if (size > INT_MAX) return {grpc::StatusCode::INTERNAL, "Failed to serialize message"};  // as the library says
  const grpc::Slice slice = SlicePool::Make(size);
  [[maybe_unused]] const uint8_t* const end = message.SerializeWithCachedSizesToArray(SlicePool::BytesOf(slice));
  grpc::ByteBuffer made(&slice, 1);
  bytes->Swap(&made);
  return grpc::Status::OK;
}

// Reads from where the library received it, unless that is in several pieces. Takes the bytes, as the library does.
template <typename M>
grpc::Status ParseInPlace(grpc::ByteBuffer* bytes, M* message) {
  grpc::Slice slice;
  const size_t size = bytes->Length();
  if (size == 0 || size > INT_MAX || !bytes->TrySingleSlice(&slice).ok()) {
    return grpc::SerializationTraits<M>::Deserialize(bytes, message);
  }
  const bool good = message->ParseFromArray(slice.begin(), static_cast<int>(size));
  bytes->Clear();
  return good ? grpc::Status::OK : grpc::Status(grpc::StatusCode::INTERNAL, "Failed to parse message");
}

template <typename M>
grpc::Status Serialize(Serializer serializer, const M& message, grpc::ByteBuffer* bytes) {
  if (serializer == Serializer::kReusingBuffers) return SerializeReusingBuffers(message, bytes);
  bool own = true;  // always, for protobuf
  return grpc::SerializationTraits<M>::Serialize(message, bytes, &own);
}
template <typename M>
grpc::Status Parse(Serializer serializer, grpc::ByteBuffer* bytes, M* message) {
  if (serializer == Serializer::kReusingBuffers) return ParseInPlace(bytes, message);
  return grpc::SerializationTraits<M>::Deserialize(bytes, message);
}

// A supply of messages whose type the caller does not know. The functions are as those of MessageSupply.
class ErasedSupply {
 public:
  virtual ~ErasedSupply() = default;
  virtual google::protobuf::MessageLite& Next() = 0;
  virtual google::protobuf::MessageLite& Current() = 0;
  virtual bool keeps() const = 0;
};

// The generic stub's message type: a pointer to a message that lives elsewhere, and its serializer. One type for the
// messages of all methods, so that an engine is compiled once for them. Hence protobuf calls some functions of a
// message as virtual ones.
struct WithSerializer {
  google::protobuf::MessageLite* message = nullptr;
  Serializer serializer = Serializer::kProtobuf;
  uint32_t uses = 0;  // counts towards the next one that is timed
};

// A supply of WithSerializer is made from this.
struct ErasedMessages {
  std::unique_ptr<ErasedSupply> supply;
  Serializer serializer = Serializer::kProtobuf;
};

// The same as of the message itself. A message that is kept is the same one at each call, without a virtual call.
template <>
class MessageSupply<WithSerializer> {
 public:
  explicit MessageSupply(ErasedMessages from)
      : supply_(std::move(from.supply)), keeps_(supply_->keeps()), message_{&supply_->Current(), from.serializer} {}

  WithSerializer& Next() {
    if (!keeps_) [[unlikely]]
      message_.message = &supply_->Next();
    ++message_.uses;
    return message_;
  }
  WithSerializer& Current() { return message_; }
  bool keeps() const { return keeps_; }

 private:
  const std::unique_ptr<ErasedSupply> supply_;
  const bool keeps_;
  WithSerializer message_;
};

}  // namespace cqbench

namespace grpc {

template <>
class SerializationTraits<cqbench::WithSerializer, void> {
 public:
  static Status Serialize(const cqbench::WithSerializer& wrapped, ByteBuffer* bytes, bool* own_buffer);
  static Status Deserialize(ByteBuffer* bytes, cqbench::WithSerializer* wrapped);
};

}  // namespace grpc
