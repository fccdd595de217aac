// Messages with a codec of choice: what grpc::SerializationTraits are for. The generic stub and the generic server know
// messages in this form.
#pragma once

#include <grpcpp/impl/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <climits>
#include <cstdint>

#include "cqbench/run_config.h"
#include "src/workload/messages/codec_times.h"
#include "src/workload/messages/holder.h"
#include "src/workload/messages/slice_pool.h"

namespace cqbench {

// Into one slice of the pool, without asking for the size a second time or for memory piece by piece.
template <typename M>
grpc::Status SerializePooled(const M& message, grpc::ByteBuffer* bytes) {
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
grpc::Status Serialize(Codec codec, const M& message, grpc::ByteBuffer* bytes) {
  if (codec == Codec::kPooled) return SerializePooled(message, bytes);
  bool own = true;  // always, for protobuf
  return grpc::SerializationTraits<M>::Serialize(message, bytes, &own);
}
template <typename M>
grpc::Status Parse(Codec codec, grpc::ByteBuffer* bytes, M* message) {
  if (codec == Codec::kPooled) return ParseInPlace(bytes, message);
  return grpc::SerializationTraits<M>::Deserialize(bytes, message);
}

// The generic stub's message type: a pointer to a message that lives elsewhere, and its codec.
template <typename M>
struct Coded {
  M* message = nullptr;
  Codec codec = Codec::kProtobuf;
  uint32_t uses = 0;  // counts towards the next one that is timed
};

// The same as of the message itself.
template <typename M>
class Holder<Coded<M>> {
 public:
  Holder(MessageHolder kind, Codec codec) : holder_(kind), coded_{&holder_.Current(), codec} {}

  Coded<M>& Next() {
    coded_.message = &holder_.Next();
    ++coded_.uses;
    return coded_;
  }
  Coded<M>& Current() { return coded_; }
  bool keeps() const { return holder_.keeps(); }

 private:
  Holder<M> holder_;
  Coded<M> coded_;
};

}  // namespace cqbench

namespace grpc {

template <typename M>
class SerializationTraits<cqbench::Coded<M>, void> {
 public:
  static Status Serialize(const cqbench::Coded<M>& coded, ByteBuffer* bytes, bool* own_buffer) {
    *own_buffer = true;
    const auto serialize = [&] { return cqbench::Serialize(coded.codec, *coded.message, bytes); };
    return IsTimed(coded) ? Times().Serializing(serialize) : serialize();
  }
  static Status Deserialize(ByteBuffer* bytes, cqbench::Coded<M>* coded) {
    const auto parse = [&] { return cqbench::Parse(coded->codec, bytes, coded->message); };
    return IsTimed(*coded) ? Times().Parsing(parse) : parse();
  }

 private:
  static cqbench::CodecTimes& Times() { return cqbench::CodecTimes::OfClient(); }
  static bool IsTimed(const cqbench::Coded<M>& coded) {
    return Times().on() && coded.uses % cqbench::CodecTimes::kEvery == 0;
  }
};

}  // namespace grpc
