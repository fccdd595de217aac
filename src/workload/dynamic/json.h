// JSON ↔ messages of types that are known when the program runs.
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/workload/dynamic/descriptors.h"

namespace cqbench {

inline constexpr size_t kMaxDataBytes = 64u << 20;
inline constexpr size_t kMaxMessages = 1'000'000;

// The values of a text: those of one array, or those that follow each other (one a line, or with whatever space or
// comma between them). Only looks for where values end; what is wrong inside one is for the parser of messages to say.
absl::StatusOr<std::vector<absl::string_view>> SplitJson(absl::string_view text);

// INVALID_ARGUMENT with one line that names the field.
absl::Status ParseJson(absl::string_view json, google::protobuf::Message& message);

// The messages of type `type` that a text has, at least one, as bytes. An error of one among several says which.
absl::StatusOr<std::vector<std::string>> JsonToBytes(absl::string_view text, const Descriptors& descriptors,
                                                     const google::protobuf::Descriptor* type);

}  // namespace cqbench
