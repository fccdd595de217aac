// The generic server's reader of messages finds what protobuf finds, for any number of slices.
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "src/workload/messages/wire.h"
#include "tests/fuzz/fuzz.h"

namespace {

using cqbench::fuzz::Require;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;
constexpr uint32_t kField = 1;

grpc::ByteBuffer Sliced(const uint8_t* data, size_t size, size_t each) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < size; at += each) slices.emplace_back(data + at, std::min(each, size - at));
  return {slices.data(), slices.size()};
}

// Returns the last field of that number and type.
const UnknownField* Last(const UnknownFieldSet& fields, UnknownField::Type type) {
  const UnknownField* last = nullptr;
  for (int i = 0; i < fields.field_count(); ++i) {
    if (fields.field(i).number() == kField && fields.field(i).type() == type) last = &fields.field(i);
  }
  return last;
}

struct Found {
  std::optional<uint64_t> varint, bytes;
  bool message = false;
  bool operator==(const Found&) const = default;
};

Found Find(const grpc::ByteBuffer& buffer) {
  Found found;
  uint64_t value = 0;
  if (cqbench::wire::FindVarint(buffer, kField, &value)) found.varint = value;
  if (cqbench::wire::FindBytesSize(buffer, kField, &value)) found.bytes = value;
  found.message = cqbench::wire::IsMessage(buffer, kField);
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t each = 1 + data[0] % 16;
  const Found found = Find(Sliced(data + 1, size - 1, size));
  Require(found == Find(Sliced(data + 1, size - 1, each)), "slices change nothing");
  UnknownFieldSet fields;
  const bool parses = fields.ParseFromArray(data + 1, static_cast<int>(size - 1));
  Require(parses || !(found.varint || found.bytes || found.message), "what is no message is none");
  if (found.varint) {
    const UnknownField* last = Last(fields, UnknownField::TYPE_VARINT);
    Require(*found.varint == (last ? last->varint() : 0), "protobuf finds the same number");
  }
  if (found.bytes) {
    const UnknownField* last = Last(fields, UnknownField::TYPE_LENGTH_DELIMITED);
    Require(*found.bytes == (last ? last->length_delimited().size() : 0), "protobuf finds the same bytes");
  }
  return 0;
}
