// JSON ↔ messages, as https://protobuf.dev/programming-guides/json/ has it. Where that leaves a choice,
// scripts/README.md says what is decided.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/http/json/json_options.h"
#include "src/http/json/json_types.h"
#include "src/http/json/protobuf_json.h"

namespace cqbench::transcoding {

// After the last Add immutable and thread-safe. Functions that are given a message of a type that was not added return
// INTERNAL; Any, Struct, Value and ListValue need not be.
class Json {
 public:
  // `pool` has the types of all messages and of what is in an Any; it must outlive this.
  Json(const google::protobuf::DescriptorPool& pool, const JsonOptions& options)
      : options_(options), protobuf_(pool), types_(options.proto_names) {}

  // And the types of the messages in it. One thread, before anything else.
  void Add(const google::protobuf::Descriptor& type) { types_.Add(type); }

  // Replaces what `message` has. `text` is one JSON value. INVALID_ARGUMENT with one line.
  absl::Status Parse(absl::string_view text, google::protobuf::Message& message) const;

  // Sets one field of `message`, of whatever type, from one JSON value. What the field has already is replaced when it
  // is a message (of no well-known type), otherwise it has to be empty.
  absl::Status ParseField(absl::string_view text, const google::protobuf::FieldDescriptor& field,
                          google::protobuf::Message& message) const;

  // Appends. INTERNAL: the message cannot be written as JSON: a time out of range, an Any of unknown type.
  absl::Status Print(const google::protobuf::Message& message, std::string& text) const;

  // Appends one field's value. null: the field has presence and is absent.
  absl::Status PrintField(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                          std::string& text) const;

 private:
  const JsonOptions options_;
  const ProtobufJson protobuf_;
  JsonTypes types_;
};

// Why a text is none that a parser takes, where that can be seen without knowing its type, and the reason for all else
// that is wrong with it: that it is not one value; that a string is not in double quotes or has a control character;
// that something is nested deeper than `max_depth`. INVALID_ARGUMENT.
absl::Status CheckJson(absl::string_view text, int max_depth);

}  // namespace cqbench::transcoding
