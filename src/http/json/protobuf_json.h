// JSON ↔ messages by protobuf's own conversion: for the types whose JSON is not made of their fields. It looks the
// types of a message up anew in each call, about 80 allocations for the smallest, so nothing else goes through it. The
// one place that knows that it differs between protobuf's generations.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/type_resolver.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/http/json/json_options.h"

namespace cqbench::transcoding {

// Immutable and thread-safe.
class ProtobufJson {
 public:
  // `pool` has the types of all messages and of what is in an Any; it must outlive this.
  explicit ProtobufJson(const google::protobuf::DescriptorPool& pool);

  // Replaces what `message` has. INVALID_ARGUMENT with one line.
  absl::Status Parse(absl::string_view text, const JsonOptions& options, google::protobuf::Message& message) const;

  // Adds one field from its value, which must be JSON, to a message.
  absl::Status ParseField(absl::string_view value, const JsonOptions& options,
                          const google::protobuf::FieldDescriptor& field, google::protobuf::Message& message) const;

  // Appends. INTERNAL with one line.
  absl::Status Print(const google::protobuf::Message& message, const JsonOptions& options, std::string& text) const;

 private:
  const std::unique_ptr<google::protobuf::util::TypeResolver> resolver_;
};

}  // namespace cqbench::transcoding
