// Messages with a serializer of choice: what grpc::SerializationTraits are for. The generic stub and the generic server
// know messages in this form.
#pragma once

#include <grpcpp/impl/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <climits>
#include <cstdint>

#include "src/workload/messages/message_supply.h"
#include "src/workload/messages/serializer_times.h"
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

// The generic stub's message type: a pointer to a message that lives elsewhere, and its serializer.
template <typename M>
struct WithSerializer {
  M* message = nullptr;
  Serializer serializer = Serializer::kProtobuf;
  uint32_t uses = 0;  // counts towards the next one that is timed
};

// The same as of the message itself.
template <typename M>
class MessageSupply<WithSerializer<M>> {
 public:
  MessageSupply(MessageStrategy kind, Serializer serializer)
      : supply_(kind), message_{&supply_.Current(), serializer} {}

  WithSerializer<M>& Next() {
    message_.message = &supply_.Next();
    ++message_.uses;
    return message_;
  }
  WithSerializer<M>& Current() { return message_; }
  bool keeps() const { return supply_.keeps(); }

 private:
  MessageSupply<M> supply_;
  WithSerializer<M> message_;
};

}  // namespace cqbench

namespace grpc {

template <typename M>
class SerializationTraits<cqbench::WithSerializer<M>, void> {
 public:
  static Status Serialize(const cqbench::WithSerializer<M>& wrapped, ByteBuffer* bytes, bool* own_buffer) {
    *own_buffer = true;
    const auto serialize = [&] { return cqbench::Serialize(wrapped.serializer, *wrapped.message, bytes); };
    return IsTimed(wrapped) ? Times().Serializing(serialize) : serialize();
  }
  static Status Deserialize(ByteBuffer* bytes, cqbench::WithSerializer<M>* wrapped) {
    const auto parse = [&] { return cqbench::Parse(wrapped->serializer, bytes, wrapped->message); };
    return IsTimed(*wrapped) ? Times().Parsing(parse) : parse();
  }

 private:
  static cqbench::SerializerTimes& Times() { return cqbench::SerializerTimes::OfClient(); }
  static bool IsTimed(const cqbench::WithSerializer<M>& wrapped) {
    return Times().on() && wrapped.uses % cqbench::SerializerTimes::kEvery == 0;
  }
};

}  // namespace grpc
