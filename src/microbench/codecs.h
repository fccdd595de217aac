// Codecs: how a message becomes bytes, and bytes a message. A new codec is a struct here and its name in
// RegisterMessages().
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <vector>

#include "src/workload/messages/with_serializer.h"
#include "src/workload/methods/methods.h"  // generated code brings gRPC's traits for protobuf

namespace cqbench::microbench {

// Protobuf alone, into a flat array that exists already.
template <typename T>
class ProtobufCodec {
 public:
  static constexpr char kName[] = "protobuf";

  bool Serialize(const T& message) {
    bytes_.resize(message.ByteSizeLong());
    return message.SerializeToArray(bytes_.data(), static_cast<int>(bytes_.size()));
  }
  // Parses the last serialized message.
  bool Parse(T& message) { return message.ParseFromArray(bytes_.data(), static_cast<int>(bytes_.size())); }

 private:
  std::vector<uint8_t> bytes_;
};

// gRPC's own codec for every message of generated code. Parsing consumes the buffer, so Parse() begins with another
// handle to the same slices (see buffer/copy).
template <typename T>
class GrpcCodec {
 public:
  static constexpr char kName[] = "grpc";

  bool Serialize(const T& message) {
    bytes_.Clear();  // the library writes into an empty buffer only
    bool own = false;
    return Traits::Serialize(message, &bytes_, &own).ok();
  }
  bool Parse(T& message) {
    grpc::ByteBuffer bytes = bytes_;
    return Traits::Deserialize(&bytes, &message).ok();
  }
  grpc::ByteBuffer& bytes() { return bytes_; }

 private:
  using Traits = grpc::SerializationTraits<T>;
  grpc::ByteBuffer bytes_;
};

// --serializer buffer-reusing: serializes into a slice that is reused, and parses the bytes in place.
template <typename T>
class PooledCodec {
 public:
  static constexpr char kName[] = "pooled";

  bool Serialize(const T& message) {
    bytes_.Clear();  // gives its slice back to the pool
    return SerializeReusingBuffers(message, &bytes_).ok();
  }
  bool Parse(T& message) {
    grpc::ByteBuffer bytes = bytes_;
    return ParseInPlace(&bytes, &message).ok();
  }

 private:
  grpc::ByteBuffer bytes_;
};

}  // namespace cqbench::microbench
