// JSON ↔ messages, by protobuf's own conversion. The one place that knows that it differs between protobuf's
// generations. JSON is that of https://protobuf.dev/programming-guides/json/.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/type_resolver.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

struct JsonOptions {
  // Requests: fields that a message does not have are an error, or passed over.
  bool ignore_unknown_fields = false;
  // Objects and arrays inside each other, which a parser's stack has to hold.
  int max_depth = 64;
  // Responses: fields without presence are printed also when they are 0, false or empty.
  bool print_defaults = false;
  bool enums_as_numbers = false;
  // book_id instead of bookId. Both are understood in requests.
  bool proto_names = false;
};

// Immutable and thread-safe.
class Json {
 public:
  // `pool` has the types of all messages and of what is in an Any; it must outlive this.
  Json(const google::protobuf::DescriptorPool& pool, const JsonOptions& options);

  // Replaces what `message` has. `text` is one JSON value. INVALID_ARGUMENT with one line.
  absl::Status Parse(absl::string_view text, google::protobuf::Message& message) const;

  // Sets one field of `message`, of whatever type, from one JSON value. The message's other fields are left alone when
  // the field is a message (of no well-known type), otherwise the message has to be empty.
  absl::Status ParseField(absl::string_view text, const google::protobuf::FieldDescriptor& field,
                          google::protobuf::Message& message) const;

  // Appends. INTERNAL: the message cannot be written as JSON: a time out of range, an Any of unknown type.
  absl::Status Print(const google::protobuf::Message& message, std::string& text) const;

  // Appends one field's value. null: the field has presence and is absent. The values of a map are printed without
  // defaults.
  absl::Status PrintField(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                          std::string& text) const;

 private:
  absl::Status PrintAlone(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                          std::string& text) const;

  const JsonOptions options_;
  const std::unique_ptr<google::protobuf::util::TypeResolver> resolver_;
};

// What a parser is not left to find out: that the text is one value, which cannot smuggle a neighbour's name in where
// it becomes a part of an object; that its strings are in double quotes; and that nothing is nested deeper than
// `max_depth`. Linear, without memory of its own. INVALID_ARGUMENT.
absl::Status CheckJson(absl::string_view text, int max_depth);

// Appends `text` as a JSON string. What is not UTF-8 becomes U+FFFD.
void AppendJsonString(absl::string_view text, std::string& json);

}  // namespace cqbench::transcoding
