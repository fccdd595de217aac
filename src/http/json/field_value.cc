#include "src/http/json/field_value.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/http/json/percent.h"
#include "src/http/json/shown.h"
#include "src/http/json/time_text.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

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

// Either alphabet, with all of the padding or none of it. The library's functions by themselves pass over blanks and
// take '.' for padding.
bool DecodeBase64(absl::string_view text, std::string& bytes) {
  const absl::string_view digits = text.substr(0, text.find('='));
  const absl::string_view padding = text.substr(digits.size());
  if (!padding.empty() && (text.size() % 4 != 0 || (padding != "=" && padding != "=="))) return false;
  const bool web_safe = digits.find_first_of("-_") != absl::string_view::npos;
  const absl::string_view others = web_safe ? "-_" : "+/";
  for (const char c : digits) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains(others, c)) return false;
  }
  return web_safe ? absl::WebSafeBase64Unescape(digits, &bytes) : absl::Base64Unescape(digits, &bytes);
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
  if (!DecodeBase64(text, bytes)) return Expected("Base64", text);
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

// Timestamp and Duration have the same fields. By number, for the type may be a dynamic one.
absl::Status SetTime(const SecondsAndNanos& time, Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  message.GetReflection()->SetInt64(&message, type.FindFieldByNumber(1), time.seconds);
  message.GetReflection()->SetInt32(&message, type.FindFieldByNumber(2), time.nanos);
  return absl::OkStatus();
}

absl::Status SetTimestamp(absl::string_view text, Message& message) {
  SecondsAndNanos time;
  return ParseTimestamp(text, time) ? SetTime(time, message) : Expected("a time like 2024-01-31T12:00:00Z", text);
}

absl::Status SetDuration(absl::string_view text, Message& message) {
  SecondsAndNanos time;
  return ParseDuration(text, time) ? SetTime(time, message) : Expected("a duration like 1.5s", text);
}

// "displayName" → "display_name". A name that is written as in the .proto has no capitals and stays.
std::string SnakeCase(absl::string_view camel) {
  std::string snake;
  for (const char c : camel) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c))) {
      snake.push_back('_');
      snake.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
    } else {
      snake.push_back(c);
    }
  }
  return snake;
}

absl::Status SetFieldMask(absl::string_view text, Message& message) {
  const FieldDescriptor* paths = message.GetDescriptor()->FindFieldByNumber(1);
  return ParseFieldMask(
      text, [&](std::string path) { message.GetReflection()->AddString(&message, paths, std::move(path)); });
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

absl::Status ParseFieldMask(absl::string_view text, absl::FunctionRef<void(std::string path)> add) {
  if (!IsUtf8(text)) return Expected("UTF-8", text);
  for (const absl::string_view path : absl::StrSplit(text, ',', absl::SkipEmpty())) add(SnakeCase(path));
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
      return SetTimestamp(text, message);
    case Descriptor::WELLKNOWNTYPE_DURATION:
      return SetDuration(text, message);
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
