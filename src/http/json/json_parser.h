// JSON → messages, over reflection. What is slow in protobuf's own conversion is left out: see protobuf_json.h.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/http/json/json_options.h"
#include "src/http/json/json_reader.h"
#include "src/http/json/json_types.h"
#include "src/http/json/protobuf_json.h"

namespace cqbench::transcoding {

// For one text; all that it is given must outlive it. No memory beyond the message's, but for strings with escapes, a
// map's keys, enumerations' names, and what is left to protobuf. INVALID_ARGUMENT names the
// field and says what is wrong, and the message has some of the text.
//
// A member that is there twice: the last scalar counts, messages are merged, lists joined; keys of a map and members of
// a oneof must not be.
class JsonParser {
 public:
  JsonParser(absl::string_view text, const JsonOptions& options, const ProtobufJson& protobuf)
      : reader_(text, options.max_depth), options_(options), protobuf_(protobuf) {}

  // The whole text into a message that is empty, or into one field of a message.
  absl::Status Parse(const JsonType& type, google::protobuf::Message& message);
  absl::Status ParseField(const JsonField& field, google::protobuf::Message& message);

 private:
  // A message with its reflection, which takes as long to find as a number does to read.
  struct Owner {
    explicit Owner(google::protobuf::Message& m) : message(m), reflection(*m.GetReflection()) {}
    google::protobuf::Message& message;
    const google::protobuf::Reflection& reflection;
  };

  absl::Status Finished(absl::Status status);
  absl::Status Whole(const JsonType& type, google::protobuf::Message& message);
  absl::Status Object(const JsonType& type, google::protobuf::Message& message);
  absl::Status Unknown(absl::string_view name);
  absl::Status Member(const JsonField& field, const Owner& in);
  absl::Status List(const JsonField& field, const Owner& in);
  absl::Status Map(const JsonField& field, const Owner& in);
  // A single value, or one more element.
  absl::Status Value(const JsonField& field, const Owner& in);
  absl::Status Scalar(const google::protobuf::FieldDescriptor& field, const Owner& in);
  absl::Status Text(const google::protobuf::FieldDescriptor& field, const Owner& in);
  absl::Status Number(const google::protobuf::FieldDescriptor& field, const Owner& in);
  static absl::Status CheckOneof(const google::protobuf::FieldDescriptor& field, const Owner& in);
  static void StoreText(absl::string_view text, const google::protobuf::FieldDescriptor& field, const Owner& in);
  absl::Status Other(absl::string_view expected);

  JsonReader reader_;
  const JsonOptions& options_;
  const ProtobufJson& protobuf_;
  std::string where_;  // the field that is wrong, from the text's message on
  bool passed_over_ =
      false;  // the last value was the name of no value of its enumeration, and unknown ones are ignored
};

}  // namespace cqbench::transcoding
