// Conversions between strings and the library's byte buffers.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace cqbench {

inline std::string BytesOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}
inline std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes += BytesOf(slice);
  return bytes;
}

// Cuts the bytes into slices of this size; the last may be shorter.
inline grpc::ByteBuffer BufferOf(const std::string& bytes, size_t slice_size = SIZE_MAX) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += std::min(slice_size, bytes.size() - at)) {
    slices.emplace_back(bytes.data() + at, std::min(slice_size, bytes.size() - at));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}
inline grpc::ByteBuffer BufferOf(const google::protobuf::Message& message) {
  return BufferOf(message.SerializeAsString());
}

}  // namespace cqbench
