// The few pieces of protobuf's wire format that the generic server writes and reads by itself: its purpose is to show
// what an RPC costs without protobuf messages.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>

namespace cqbench::wire {

// A message with one varint field; empty when the value is 0, as proto3 leaves defaults out.
grpc::ByteBuffer VarintField(uint32_t field, uint64_t value);
// A message with one bytes field of `size` bytes, all `fill`; empty when the size is 0.
grpc::ByteBuffer BytesField(uint32_t field, size_t size, char fill);
// Reads the last varint field of that number in the message into `value`; 0 when there is none. False when the bytes
// are not a protobuf message.
bool FindVarint(const grpc::ByteBuffer& message, uint32_t field, uint64_t* value);

}  // namespace cqbench::wire
