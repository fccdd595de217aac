#include "src/workload/messages/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace cqbench::wire {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

uint32_t Tag(uint32_t field, WireType type) {
  return field << 3 | type;
}

bool SkipField(CodedInputStream& in, uint32_t type) {
  uint64_t ignored = 0;
  uint32_t size = 0;
  switch (type) {
    case kVarint:
      return in.ReadVarint64(&ignored);
    case kFixed64:
      return in.Skip(8);
    case kBytes:
      return in.ReadVarint32(&size) && size <= INT32_MAX && in.Skip(static_cast<int>(size));
    case kFixed32:
      return in.Skip(4);
    default:
      return false;
  }
}

}  // namespace

grpc::Slice VarintSlice(uint32_t field, uint64_t value) {
  std::array<uint8_t, 16> bytes;
  uint8_t* end = bytes.data();
  if (value != 0) {
    end = CodedOutputStream::WriteVarint32ToArray(Tag(field, kVarint), end);
    end = CodedOutputStream::WriteVarint64ToArray(value, end);
  }
  return {bytes.data(), static_cast<size_t>(end - bytes.data())};
}

grpc::ByteBuffer VarintField(uint32_t field, uint64_t value) {
  const grpc::Slice slice = VarintSlice(field, value);
  return grpc::ByteBuffer(&slice, 1);
}

grpc::Slice BytesField(uint32_t field, size_t size, const PayloadSource& payload) {
  std::array<uint8_t, 16> header;
  uint8_t* end = header.data();
  if (size != 0) {
    end = CodedOutputStream::WriteVarint32ToArray(Tag(field, kBytes), end);
    end = CodedOutputStream::WriteVarint64ToArray(size, end);
  }
  const auto header_size = static_cast<size_t>(end - header.data());
  grpc::Slice slice(header_size + size);
  auto* out = const_cast<uint8_t*>(slice.begin());
  std::memcpy(out, header.data(), header_size);
  payload.Copy(reinterpret_cast<char*>(out) + header_size, size);
  return slice;
}

const grpc::Slice& SharedBytesField(uint32_t field, size_t size, const PayloadSource& payload) {
  struct Made {
    grpc::Slice slice;
    uint32_t field = 0;
    size_t size = 0;
    const PayloadSource* payload = nullptr;
  };
  thread_local Made last;
  if (last.payload != &payload || last.size != size || last.field != field) [[unlikely]]
    last = {BytesField(field, size, payload), field, size, &payload};
  return last.slice;
}

namespace {

// The last field of that number and type: reads what follows its tag with `read`.
template <typename Read>
bool FindField(CodedInputStream& in, uint32_t wanted_tag, Read& read) {
  while (const uint32_t tag = in.ReadTag()) {
    if (tag >> 3 == 0) return false;  // there is no field 0
    if (tag == wanted_tag ? !read(in) : !SkipField(in, tag & 7)) return false;
  }
  return in.ConsumedEntireMessage();
}
template <typename Read>
bool FindField(const grpc::ByteBuffer& message, uint32_t wanted_tag, Read&& read) {
  if (message.Length() == 0) return true;
  if (grpc::Slice slice; message.TrySingleSlice(&slice).ok()) {
    CodedInputStream in(slice.begin(), static_cast<int>(slice.size()));
    return FindField(in, wanted_tag, read);
  }
  // The library's reader does not change the buffer, but takes it as if it did.
  grpc::ProtoBufferReader slices(const_cast<grpc::ByteBuffer*>(&message));
  CodedInputStream in(&slices);
  return FindField(in, wanted_tag, read);
}

}  // namespace

bool FindVarint(const grpc::ByteBuffer& message, uint32_t field, uint64_t* value, uint64_t absent) {
  *value = absent;
  return FindField(message, Tag(field, kVarint), [&](CodedInputStream& in) { return in.ReadVarint64(value); });
}

bool FindBytesSize(const grpc::ByteBuffer& message, uint32_t field, uint64_t* size) {
  *size = 0;
  return FindField(message, Tag(field, kBytes), [&](CodedInputStream& in) {
    uint32_t bytes = 0;
    if (!in.ReadVarint32(&bytes) || bytes > INT32_MAX || !in.Skip(static_cast<int>(bytes))) return false;
    *size = bytes;
    return true;
  });
}

bool FindBytesEnds(const grpc::ByteBuffer& message, uint32_t field, PayloadEnds* ends) {
  *ends = {};
  return FindField(message, Tag(field, kBytes), [&](CodedInputStream& in) {
    *ends = {};
    uint32_t bytes = 0;
    if (!in.ReadVarint32(&bytes) || bytes > INT32_MAX) return false;
    ends->size = bytes;
    const int size = static_cast<int>(bytes), first = std::min(size, static_cast<int>(PayloadEnds::kFirst));
    if (size == 0) return true;
    if (!in.ReadRaw(ends->first.data(), first)) return false;
    ends->last = ends->first[static_cast<size_t>(first) - 1];
    return size == first || (in.Skip(size - first - 1) && in.ReadRaw(&ends->last, 1));
  });
}

bool IsMessage(const grpc::ByteBuffer& message, uint32_t nested_field) {
  return FindField(message, Tag(nested_field, kBytes), [](CodedInputStream& in) {
    uint32_t size = 0;
    if (!in.ReadVarint32(&size) || size > INT32_MAX) return false;
    const int begin = in.CurrentPosition();
    const CodedInputStream::Limit outer = in.PushLimit(static_cast<int>(size));  // a longer one than is there: ignored
    while (const uint32_t tag = in.ReadTag()) {
      if (tag >> 3 == 0 || !SkipField(in, tag & 7)) return false;
    }
    const bool whole = in.ConsumedEntireMessage();
    in.PopLimit(outer);
    return whole && static_cast<uint32_t>(in.CurrentPosition() - begin) == size;
  });
}

}  // namespace cqbench::wire
