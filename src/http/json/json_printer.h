// Messages → JSON, over reflection. What is slow in protobuf's own conversion is left out: see protobuf_json.h.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "src/http/json/json_options.h"
#include "src/http/json/json_types.h"
#include "src/http/json/protobuf_json.h"

namespace cqbench::transcoding {

// For one text, to which it appends; all that it is given must outlive it. No memory beyond the text's growth, but for
// maps, which reflection shows as copies of their entries, and for what protobuf prints. INTERNAL, and the text is no
// whole: a time out of range, an Any of an unknown type.
class JsonPrinter {
 public:
  JsonPrinter(const JsonOptions& options, const ProtobufJson& protobuf, std::string& text)
      : options_(options), protobuf_(protobuf), text_(text) {}

  absl::Status Print(const JsonType& type, const google::protobuf::Message& message);

  // A field's value, set or not: null where it has presence and is absent.
  absl::Status PrintField(const JsonField& field, const google::protobuf::Message& message);

 private:
  // A message with its reflection, which takes as long to find as a field does to print.
  struct Owner {
    explicit Owner(const google::protobuf::Message& m) : message(m), reflection(*m.GetReflection()) {}
    const google::protobuf::Message& message;
    const google::protobuf::Reflection& reflection;
  };
  // A single field's value, or the element with this index.
  struct Place {
    const Owner& in;
    const JsonField& field;
    int index = -1;
  };

  absl::Status Fields(const JsonType& type, const Owner& message);
  absl::Status Present(const JsonField& field, const Owner& message);
  absl::Status List(const JsonField& field, const Owner& message);
  absl::Status Map(const JsonField& field, const Owner& message);
  absl::Status Value(const Place& place);
  absl::Status Time(const JsonType& type, const Owner& message);
  absl::Status FieldMask(const JsonType& type, const Owner& message);
  void Key(const Place& place);
  void Text(const Place& place);
  void Enum(const google::protobuf::EnumDescriptor& type, int number);
  void Absent(const google::protobuf::FieldDescriptor& field);

  static bool IsPresent(const JsonField& field, const Owner& message);
  template <typename T>
  static T Get(T (google::protobuf::Reflection::*single)(const google::protobuf::Message&,
                                                         const google::protobuf::FieldDescriptor*) const,
               T (google::protobuf::Reflection::*element)(const google::protobuf::Message&,
                                                          const google::protobuf::FieldDescriptor*, int) const,
               const Place& place);
  static const google::protobuf::Message& Inside(const Place& place);

  const JsonOptions& options_;
  const ProtobufJson& protobuf_;
  std::string& text_;
};

}  // namespace cqbench::transcoding
