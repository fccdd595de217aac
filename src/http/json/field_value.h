// A field's value from text in a URL or in JSON: as JSON has it (https://protobuf.dev/programming-guides/json/),
// without quotes.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// Returns true if one text is a whole value of that type: numbers, text, enumerations, and the well-known types that
// JSON writes as one of them (timestamps, durations, field masks, wrappers).
bool HasTextForm(const google::protobuf::FieldDescriptor& field);

// Sets the field, or adds to it when it is repeated. `text` is decoded. INVALID_ARGUMENT says what is expected instead.
//   integers: decimal digits, with a '-' before them; no blanks, no '+', no exponents
//   numbers: decimal, with an exponent where wanted; NaN, Infinity, -Infinity
//   bool: true, false       bytes: Base64 as absl reads it, of either alphabet
//   times and durations: as protobuf's JSON parser reads them
//   enumerations: a name, or a number (one without a name where the type is open)
//   field masks: paths with commas between them, all in camelCase or all as in the .proto
absl::Status SetFromText(absl::string_view text, const google::protobuf::FieldDescriptor& field,
                         google::protobuf::Message& message);

// Sets one of the well-known types that have a text form, whichever field it is in.
absl::Status SetFromText(absl::string_view text, google::protobuf::Message& message);

// The same for those who have the field's type at hand.
absl::Status ParseInt32(absl::string_view text, int32_t& value);
absl::Status ParseString(absl::string_view text, std::string& value);
// Adds the paths, as in the .proto.
absl::Status ParseFieldMask(absl::string_view text, google::protobuf::FieldMask& mask);

}  // namespace cqbench::transcoding
