#include "src/http/json/field_value.h"

#include <google/protobuf/util/field_mask_util.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/clean_text.h"
#include "src/http/json/json.h"
#include "src/http/json/shown.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::FieldMaskUtil;

absl::Status Expected(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("'", Shown(text), "' is not ", what));
}

template <typename Int>
bool ParseInteger(absl::string_view text, Int& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end && !text.empty();
}

template <typename Float>
bool ParseFloat(absl::string_view text, Float& value) {
  using Limits = std::numeric_limits<Float>;
  if (text == "NaN") return value = Limits::quiet_NaN(), true;
  if (text == "Infinity") return value = Limits::infinity(), true;
  if (text == "-Infinity") return value = -Limits::infinity(), true;
  // The library takes blanks, '+' and other names as well, which JSON does not know.
  if (text.find_first_not_of("0123456789.-+eE") != absl::string_view::npos || absl::StartsWith(text, "+")) return false;
  bool parsed = false;
  if constexpr (std::is_same_v<Float, float>) {
    parsed = absl::SimpleAtof(text, &value);
  } else {
    parsed = absl::SimpleAtod(text, &value);
  }
  return parsed && !std::isinf(value);
}

// Sets a singular field or adds to a repeated one, by the pair of Reflection's functions for that type.
template <typename Value, typename Parameter>
void Store(void (Reflection::*set)(Message*, const FieldDescriptor*, Parameter) const,
           void (Reflection::*add)(Message*, const FieldDescriptor*, Parameter) const, Value value,
           const FieldDescriptor& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  (reflection.*(field.is_repeated() ? add : set))(&message, &field, std::move(value));
}

template <typename Int>
absl::Status SetInteger(void (Reflection::*set)(Message*, const FieldDescriptor*, Int) const,
                        void (Reflection::*add)(Message*, const FieldDescriptor*, Int) const, absl::string_view what,
                        absl::string_view text, const FieldDescriptor& field, Message& message) {
  Int value = 0;
  if (!ParseInteger(text, value)) return Expected(what, text);
  Store(set, add, value, field, message);
  return absl::OkStatus();
}

template <typename Float>
absl::Status SetFloat(void (Reflection::*set)(Message*, const FieldDescriptor*, Float) const,
                      void (Reflection::*add)(Message*, const FieldDescriptor*, Float) const, absl::string_view what,
                      absl::string_view text, const FieldDescriptor& field, Message& message) {
  Float value = 0;
  if (!ParseFloat(text, value)) return Expected(what, text);
  Store(set, add, value, field, message);
  return absl::OkStatus();
}

void StoreString(std::string value, const FieldDescriptor& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) {
    reflection.AddString(&message, &field, std::move(value));
  } else {
    reflection.SetString(&message, &field, std::move(value));
  }
}

absl::Status SetString(absl::string_view text, const FieldDescriptor& field, Message& message) {
  std::string bytes;
  if (field.type() == FieldDescriptor::TYPE_STRING) {
    absl::Status status = ParseString(text, bytes);
    if (status.ok()) StoreString(std::move(bytes), field, message);
    return status;
  }
  if (!absl::Base64Unescape(text, &bytes) && !absl::WebSafeBase64Unescape(text, &bytes)) {
    return Expected("Base64", text);
  }
  StoreString(std::move(bytes), field, message);
  return absl::OkStatus();
}

absl::Status SetEnum(absl::string_view text, const FieldDescriptor& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  int32_t number = 0;
  if (const EnumValueDescriptor* value = field.enum_type()->FindValueByName(std::string(text)); value != nullptr) {
    number = value->number();
  } else if (!ParseInteger(text, number)) {
    return Expected(absl::StrCat("one of the values of ", std::string(field.enum_type()->full_name())), text);
  }
  // A closed type keeps a number without a name elsewhere, which shows whether it is closed in either generation of
  // protobuf's API.
  if (field.is_repeated()) {
    const int before = reflection.FieldSize(message, &field);
    reflection.AddEnumValue(&message, &field, number);
    if (reflection.FieldSize(message, &field) > before) return absl::OkStatus();
  } else {
    reflection.SetEnumValue(&message, &field, number);
    if (reflection.GetEnumValue(message, &field) == number) return absl::OkStatus();
  }
  return Expected(absl::StrCat("one of the values of ", std::string(field.enum_type()->full_name())), text);
}

// By the JSON parser: TimeUtil::FromString() aborts on a time after the year 9999.
absl::Status SetTime(absl::string_view text, absl::string_view what, Message& message) {
  const bool plain = text.find_first_of("\"\\") == absl::string_view::npos;
  return plain && ParseJson(absl::StrCat("\"", text, "\""), message).ok() ? absl::OkStatus() : Expected(what, text);
}

absl::Status SetFieldMask(absl::string_view text, Message& message) {
  FieldMask mask;
  absl::Status status = ParseFieldMask(text, mask);
  const FieldDescriptor* paths = message.GetDescriptor()->FindFieldByNumber(1);
  for (const std::string& path : mask.paths()) message.GetReflection()->AddString(&message, paths, path);
  return status;
}

bool IsWrapper(Descriptor::WellKnownType type) {
  return type >= Descriptor::WELLKNOWNTYPE_DOUBLEVALUE && type <= Descriptor::WELLKNOWNTYPE_BOOLVALUE;
}

}  // namespace

absl::Status ParseInt32(absl::string_view text, int32_t& value) {
  return ParseInteger(text, value) ? absl::OkStatus() : Expected("an int32", text);
}

absl::Status ParseString(absl::string_view text, std::string& value) {
  if (!IsUtf8(text)) return Expected("UTF-8", text);
  value.assign(text.data(), text.size());
  return absl::OkStatus();
}

absl::Status ParseFieldMask(absl::string_view text, FieldMask& mask) {
  if (!IsUtf8(text)) return Expected("UTF-8", text);
  FieldMask added;
  const std::string paths(text);
  if (!FieldMaskUtil::FromJsonString(paths, &added)) FieldMaskUtil::FromString(paths, &added);
  mask.MergeFrom(added);
  return absl::OkStatus();
}

bool HasTextForm(const FieldDescriptor& field) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return true;
  if (field.is_repeated()) return false;
  const Descriptor::WellKnownType type = field.message_type()->well_known_type();
  return type == Descriptor::WELLKNOWNTYPE_TIMESTAMP || type == Descriptor::WELLKNOWNTYPE_DURATION ||
         type == Descriptor::WELLKNOWNTYPE_FIELDMASK || IsWrapper(type);
}

absl::Status SetFromText(absl::string_view text, Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  switch (type.well_known_type()) {
    case Descriptor::WELLKNOWNTYPE_TIMESTAMP:
      return SetTime(text, "a time like 2024-01-31T12:00:00Z", message);
    case Descriptor::WELLKNOWNTYPE_DURATION:
      return SetTime(text, "a duration like 1.5s", message);
    case Descriptor::WELLKNOWNTYPE_FIELDMASK:
      return SetFieldMask(text, message);
    default:
      return SetFromText(text, *type.FindFieldByNumber(1), message);  // a wrapper
  }
}

absl::Status SetFromText(absl::string_view text, const FieldDescriptor& field, Message& message) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return SetInteger<int32_t>(&Reflection::SetInt32, &Reflection::AddInt32, "an int32", text, field, message);
    case FieldDescriptor::CPPTYPE_INT64:
      return SetInteger<int64_t>(&Reflection::SetInt64, &Reflection::AddInt64, "an int64", text, field, message);
    case FieldDescriptor::CPPTYPE_UINT32:
      return SetInteger<uint32_t>(&Reflection::SetUInt32, &Reflection::AddUInt32, "a uint32", text, field, message);
    case FieldDescriptor::CPPTYPE_UINT64:
      return SetInteger<uint64_t>(&Reflection::SetUInt64, &Reflection::AddUInt64, "a uint64", text, field, message);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return SetFloat<float>(&Reflection::SetFloat, &Reflection::AddFloat, "a float", text, field, message);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return SetFloat<double>(&Reflection::SetDouble, &Reflection::AddDouble, "a double", text, field, message);
    case FieldDescriptor::CPPTYPE_BOOL:
      if (text != "true" && text != "false") return Expected("true or false", text);
      Store(&Reflection::SetBool, &Reflection::AddBool, text == "true", field, message);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_STRING:
      return SetString(text, field, message);
    case FieldDescriptor::CPPTYPE_ENUM:
      return SetEnum(text, field, message);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return SetFromText(text, *message.GetReflection()->MutableMessage(&message, &field));
  }
  return absl::InternalError("a type that protobuf did not have");
}

}  // namespace cqbench::transcoding
