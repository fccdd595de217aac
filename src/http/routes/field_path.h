// A field of a message or of a message in it, by its names with dots: "book.name".
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// From the outermost; never empty. All but the last are singular messages.
using FieldPath = std::vector<const google::protobuf::FieldDescriptor*>;

// INVALID_ARGUMENT: the field that is not there, or has no fields itself.
absl::StatusOr<FieldPath> FindFieldPath(const google::protobuf::Descriptor& message, absl::string_view names);

// The message that has the path's last field; those on the way are made.
google::protobuf::Message& OwnerOf(const FieldPath& path, google::protobuf::Message& message);

}  // namespace cqbench::transcoding
