// JSON ↔ messages by protobuf's own conversion, so that it takes and writes what the release of protobuf at hand does.
// Every function is thread-safe.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// Objects and arrays inside each other. protobuf has a limit as well, which is lower for a Struct (33 in
// protobuf 3.21).
inline constexpr int kMaxJsonDepth = 64;

// Replaces what `message` has. `text` is one JSON value. INVALID_ARGUMENT with one line.
absl::Status ParseJson(absl::string_view text, google::protobuf::Message& message);

// Sets one field, of whatever type, from one JSON value, or adds to it when it is repeated. INVALID_ARGUMENT with one
// line.
absl::Status ParseJsonField(absl::string_view text, const google::protobuf::FieldDescriptor& field,
                            google::protobuf::Message& message);

// Appends. INTERNAL with one line: the message cannot be written as JSON (a time out of range, an Any of unknown type).
absl::Status PrintJson(const google::protobuf::Message& message, std::string& text);

// Appends one field's value. null: the field has presence and is absent.
absl::Status PrintJsonField(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                            std::string& text);

// Appends text as a JSON string. What is not UTF-8 becomes U+FFFD.
void AppendJsonString(absl::string_view value, std::string& text);

}  // namespace cqbench::transcoding
