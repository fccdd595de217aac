#include "tests/unit/transcoding_encoder.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <cmath>
#include <cstdlib>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/http/json/field_value.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::TimeUtil;

// Returns a value of `field` as text. SetFromText, which other tests check, gives it a meaning.
std::string RandomValue(Random& random, const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(static_cast<int32_t>(random()));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(static_cast<int64_t>(random()));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(static_cast<uint32_t>(random()));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(random());
    case FieldDescriptor::CPPTYPE_BOOL:
      return Below(random, 2) == 0 ? "true" : "false";
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrFormat("%.17g", static_cast<double>(static_cast<int32_t>(random())) / 1024);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto& type = *field.enum_type();
      return std::string(type.value(static_cast<int>(Below(random, type.value_count())))->name());
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = RandomText(random, 12);
      return field.type() == FieldDescriptor::TYPE_BYTES ? absl::Base64Escape(text) : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  switch (field.message_type()->well_known_type()) {
    case Descriptor::WELLKNOWNTYPE_TIMESTAMP:
      return TimeUtil::ToString(
          TimeUtil::MillisecondsToTimestamp(static_cast<int64_t>(Below(random, 1'000'000'000'000))));
    case Descriptor::WELLKNOWNTYPE_DURATION:
      return TimeUtil::ToString(TimeUtil::MillisecondsToDuration(static_cast<int32_t>(random())));
    case Descriptor::WELLKNOWNTYPE_FIELDMASK:
      return Below(random, 2) == 0 ? "longFieldName,inner.text" : "name";
    default:
      return RandomValue(random, *field.message_type()->FindFieldByNumber(1));
  }
}

bool HasParametersInside(const FieldDescriptor& field) {
  return !field.is_repeated() && field.message_type() != nullptr &&
         field.message_type()->well_known_type() == Descriptor::WELLKNOWNTYPE_UNSPECIFIED;
}

std::string NumberText(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return absl::StrFormat("%.*g", digits, value);
}

// Returns the text of a primitive, by its index if it is repeated (-1: single).
std::string TextOf(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  const bool single = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(single ? reflection.GetInt32(message, &field)
                                 : reflection.GetRepeatedInt32(message, &field, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(reflection.GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberText(reflection.GetFloat(message, &field), 9);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberText(reflection.GetDouble(message, &field), 17);
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat(single ? reflection.GetEnumValue(message, &field)
                                 : reflection.GetRepeatedEnumValue(message, &field, index));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text =
          single ? reflection.GetString(message, &field) : reflection.GetRepeatedString(message, &field, index);
      return field.type() == FieldDescriptor::TYPE_BYTES ? absl::WebSafeBase64Escape(text) : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return "";
}

// Returns false if a well-known type has no text for the value: it is out of range, or a path is not camelCase.
bool HasText(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& first = *type.FindFieldByNumber(1);
  if (type.well_known_type() == Descriptor::WELLKNOWNTYPE_FIELDMASK) {
    for (int i = 0; i < reflection.FieldSize(message, &first); ++i) {
      const std::string path = reflection.GetRepeatedString(message, &first, i);
      const bool other = path.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos;
      if (path.empty() || other) return false;
    }
    return true;
  }
  const bool time = type.well_known_type() == Descriptor::WELLKNOWNTYPE_TIMESTAMP;
  if (!time && type.well_known_type() != Descriptor::WELLKNOWNTYPE_DURATION) return true;
  const int64_t seconds = reflection.GetInt64(message, &first);
  const int32_t nanos = reflection.GetInt32(message, type.FindFieldByNumber(2));
  if (time) return seconds >= -62'135'596'800 && seconds <= 253'402'300'799 && nanos >= 0 && nanos < 1'000'000'000;
  const bool in_range = std::abs(seconds) <= 315'576'000'000 && std::abs(int64_t{nanos}) < 1'000'000'000;
  return in_range && (seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0));
}

// Returns the text of a well-known type that has one.
std::string WellKnownText(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& first = *type.FindFieldByNumber(1);
  switch (type.well_known_type()) {
    case Descriptor::WELLKNOWNTYPE_TIMESTAMP: {
      google::protobuf::Timestamp time;
      return time.ParseFromString(message.SerializeAsString()) ? TimeUtil::ToString(time) : "no time";
    }
    case Descriptor::WELLKNOWNTYPE_DURATION: {
      google::protobuf::Duration duration;
      return duration.ParseFromString(message.SerializeAsString()) ? TimeUtil::ToString(duration) : "no duration";
    }
    case Descriptor::WELLKNOWNTYPE_FIELDMASK: {
      std::string paths;
      for (int i = 0; i < reflection.FieldSize(message, &first); ++i) {
        absl::StrAppend(&paths, i == 0 ? "" : ",", reflection.GetRepeatedString(message, &first, i));
      }
      return paths;
    }
    default:
      return TextOf(message, first, -1);
  }
}

}  // namespace

std::string RandomText(Random& random, size_t longest, bool filled) {
  static constexpr const char* kCharacters[] = {"a",
                                                "Z",
                                                "9",
                                                "-",
                                                "_",
                                                ".",
                                                "~",
                                                "/",
                                                ":",
                                                "%",
                                                "+",
                                                " ",
                                                "?",
                                                "#",
                                                "&",
                                                "=",
                                                "*",
                                                "{",
                                                "}",
                                                "\"",
                                                "'",
                                                "\\",
                                                "\x01",
                                                "\n",
                                                "[",
                                                "]",
                                                "%2F",
                                                "..",
                                                "\x7F",
                                                "\xC3\xA9",
                                                "\xE2\x82\xAC",
                                                "\xF0\x9F\x98\x80"};
  std::string text;
  const uint64_t characters = Below(random, longest) + (filled ? 1 : 0);
  for (uint64_t i = 0; i < characters; ++i) text += kCharacters[Below(random, std::size(kCharacters))];
  return text;
}

std::string RandomName(Random& random, const std::vector<std::string>& segments) {
  return absl::StrJoin(segments, "/", [&](std::string* out, const std::string& segment) {
    std::string text = segment == "*" ? RandomText(random, 8, /*filled=*/true) : segment;
    // A '/' in a name separates its segments, and an encoded '/' would become the same text.
    for (char& c : text) {
      if (c == '/') c = '|';
    }
    if (text.find("%2F") != std::string::npos) text = "x";
    *out += text;
  });
}

std::string PercentEncode(const std::string& text, bool slashes) {
  std::string encoded;
  for (const char c : text) {
    const bool plain =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain || (slashes && c == '/')) {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

void FillParameters(Random& random, int depth, Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const auto* oneof = field.real_containing_oneof();
    if (Below(random, 3) != 0 || (oneof != nullptr && message.GetReflection()->HasOneof(message, oneof))) continue;
    if (HasParametersInside(field)) {
      if (depth > 0) FillParameters(random, depth - 1, *message.GetReflection()->MutableMessage(&message, &field));
    } else if (HasTextForm(field)) {
      const uint64_t values = field.is_repeated() ? Below(random, 4) : 1;
      for (uint64_t j = 0; j < values; ++j) {
        if (!SetFromText(RandomValue(random, field), field, message).ok()) std::abort();
      }
    }
  }
  DropEmptyMessages(message);
}

void DropEmptyMessages(Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!HasParametersInside(*field)) continue;
    Message& inside = *message.GetReflection()->MutableMessage(&message, field);
    DropEmptyMessages(inside);
    if (inside.ByteSizeLong() == 0) message.GetReflection()->ClearField(&message, field);
  }
}

std::string EncodeQuery(Random& random, const Message& message, const std::string& prefix) {
  std::string query;
  const auto add = [&](const FieldDescriptor& field, const std::string& value) {
    const bool json_name = Below(random, 2) == 0;
    absl::StrAppend(&query, query.empty() ? "" : "&", prefix,
                    json_name ? std::string(field.json_name()) : std::string(field.name()), "=", PercentEncode(value));
  };
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_repeated()) {
      for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i)
        add(*field, TextOf(message, *field, i));
    } else if (field->message_type() == nullptr) {
      add(*field, TextOf(message, *field, -1));
    } else {
      const Message& inside = message.GetReflection()->GetMessage(message, field);
      if (HasTextForm(*field) && HasText(inside) && (inside.ByteSizeLong() == 0 || Below(random, 2) == 0)) {
        add(*field, WellKnownText(inside));
      } else {
        absl::StrAppend(&query, query.empty() ? "" : "&",
                        EncodeQuery(random, inside, absl::StrCat(prefix, std::string(field->name()), ".")));
      }
    }
  }
  return query;
}

}  // namespace cqbench::transcoding
