// What JSON needs to know of messages' types, found out once: protobuf has no public look-up by a name in JSON, and the
// others need a std::string.
#pragma once

#include <google/protobuf/descriptor.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// What a message is in JSON.
enum class JsonForm {
  kFields,  // an object with its fields
  kTimestamp,
  kDuration,
  kFieldMask,
  kWrapper,  // its only field's value
  kOther,    // Any, Struct, Value, ListValue: left to protobuf
};
JsonForm FormOf(const google::protobuf::Descriptor& type);

struct JsonType;

struct JsonField {
  const google::protobuf::FieldDescriptor* descriptor;
  const JsonType* type;  // of a message, or of a map's entries; nullptr: a scalar
  std::string label;     // "\"bookId\":", ready to be appended
  bool is_other;         // what is in it is left to protobuf when it is read
};

struct JsonType {
  const google::protobuf::Descriptor* descriptor;
  JsonForm form;
  std::vector<JsonField> fields;                                     // by their numbers
  absl::flat_hash_map<absl::string_view, const JsonField*> by_name;  // by both names
};

// Filled by one thread; then const and thread-safe. What it hands out lives as long as it does.
class JsonTypes {
 public:
  // Labels are names of the .proto, or of JSON.
  explicit JsonTypes(bool proto_names) : proto_names_(proto_names) {}

  // The type and those of the messages in it. The descriptors must outlive this.
  const JsonType& Add(const google::protobuf::Descriptor& type);

  // nullptr: it was not added.
  const JsonType* Find(const google::protobuf::Descriptor& type) const;

 private:
  const bool proto_names_;
  absl::flat_hash_map<const google::protobuf::Descriptor*, std::unique_ptr<JsonType>> types_;
};

}  // namespace cqbench::transcoding
