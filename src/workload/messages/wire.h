// The few pieces of protobuf's wire format that those without protobuf messages write and read by themselves: the
// generic server, and a client whose messages are bytes.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>

#include "src/workload/messages/payload.h"

namespace cqbench::wire {

// A varint field; empty when the value is 0, as proto3 leaves defaults out. A message of one field is just that.
grpc::Slice VarintSlice(uint32_t field, uint64_t value);
grpc::ByteBuffer VarintField(uint32_t field, uint64_t value);
// A bytes field with the first `size` bytes of the payload; empty when the size is 0.
grpc::Slice BytesField(uint32_t field, size_t size, const PayloadSource& payload);
// The same without copying: made once, as long as the calling thread asks for the same again. Until its next call.
const grpc::Slice& SharedBytesField(uint32_t field, size_t size, const PayloadSource& payload);
// Reads the last varint field of that number in the message into `value`; `absent` when there is none. False when the
// bytes are not a protobuf message. A message of several slices is read where it lies.
bool FindVarint(const grpc::ByteBuffer& message, uint32_t field, uint64_t* value, uint64_t absent = 0);
// The same for how long the last bytes field of that number is.
bool FindBytesSize(const grpc::ByteBuffer& message, uint32_t field, uint64_t* size);
// The same for what is at its ends.
bool FindBytesEnds(const grpc::ByteBuffer& message, uint32_t field, PayloadEnds* ends);
// Returns true if the bytes are a protobuf message of any type whose length-delimited fields of that number are
// messages, too. What is in strings and further messages is not looked at.
bool IsMessage(const grpc::ByteBuffer& message, uint32_t nested_field);

}  // namespace cqbench::wire
