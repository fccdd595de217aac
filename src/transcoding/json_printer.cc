#include "src/transcoding/json_printer.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "src/transcoding/json_text.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsPresent(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0 : reflection.HasField(message, &field);
}

// By the pair of Reflection's functions for that type.
template <typename Value, typename Place>
Value Get(Value (Reflection::*single)(const Message&, const FieldDescriptor*) const,
          Value (Reflection::*element)(const Message&, const FieldDescriptor*, int) const, const Place& place) {
  const Reflection& reflection = *place.message.GetReflection();
  const FieldDescriptor* field = place.field.descriptor;
  return place.index < 0 ? (reflection.*single)(place.message, field)
                         : (reflection.*element)(place.message, field, place.index);
}

template <typename Place>
const Message& MessageAt(const Place& place) {
  const Reflection& reflection = *place.message.GetReflection();
  const FieldDescriptor* field = place.field.descriptor;
  return place.index < 0 ? reflection.GetMessage(place.message, field)
                         : reflection.GetRepeatedMessage(place.message, field, place.index);
}

// Timestamp and Duration have the same fields.
absl::Status PrintTime(const JsonType& type, const Message& message, std::string& text) {
  const Reflection& reflection = *message.GetReflection();
  const int64_t seconds = reflection.GetInt64(message, type.fields[0].descriptor);
  const int32_t nanos = reflection.GetInt32(message, type.fields[1].descriptor);
  const bool is_timestamp = type.form == JsonForm::kTimestamp;
  if (is_timestamp ? AppendTimestamp(seconds, nanos, text) : AppendDuration(seconds, nanos, text)) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(is_timestamp ? "a timestamp" : "a duration", " that JSON cannot say: ",
                                          seconds, " s and ", nanos, " ns"));
}

}  // namespace

absl::Status JsonPrinter::Print(const JsonType& type, const Message& message) {
  switch (type.form) {
    case JsonForm::kFields:
      return Fields(type, message);
    case JsonForm::kTimestamp:
    case JsonForm::kDuration:
      return PrintTime(type, message, text_);
    case JsonForm::kFieldMask:
      return FieldMask(type, message);
    case JsonForm::kWrapper:
      return Value({message, type.fields[0], -1});
    case JsonForm::kOther:
      break;
  }
  return protobuf_.Print(message, options_, text_);
}

absl::Status JsonPrinter::PrintField(const JsonField& field, const Message& message) {
  if (IsPresent(*field.descriptor, message)) return Present(field, message);
  if (!field.descriptor->is_repeated() && field.descriptor->has_presence()) {
    text_ += "null";
  } else {
    Absent(*field.descriptor);
  }
  return absl::OkStatus();
}

absl::Status JsonPrinter::Fields(const JsonType& type, const Message& message) {
  char before = '{';
  for (const JsonField& field : type.fields) {
    const bool present = IsPresent(*field.descriptor, message);
    if (!present && (!options_.print_defaults || field.descriptor->has_presence())) continue;
    text_.push_back(before);
    before = ',';
    text_ += field.label;
    if (!present) {
      Absent(*field.descriptor);
    } else if (absl::Status status = Present(field, message); !status.ok()) {
      return status;
    }
  }
  text_ += before == '{' ? "{}" : "}";
  return absl::OkStatus();
}

absl::Status JsonPrinter::Present(const JsonField& field, const Message& message) {
  if (field.descriptor->is_map()) return Map(field, message);
  return field.descriptor->is_repeated() ? List(field, message) : Value({message, field, -1});
}

absl::Status JsonPrinter::List(const JsonField& field, const Message& message) {
  const int size = message.GetReflection()->FieldSize(message, field.descriptor);
  for (int i = 0; i < size; ++i) {
    text_.push_back(i == 0 ? '[' : ',');
    if (absl::Status status = Value({message, field, i}); !status.ok()) return status;
  }
  text_.push_back(']');
  return absl::OkStatus();
}

absl::Status JsonPrinter::Map(const JsonField& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, field.descriptor);
  for (int i = 0; i < size; ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, field.descriptor, i);
    text_.push_back(i == 0 ? '{' : ',');
    Key({entry, field.type->fields[0], -1});
    text_.push_back(':');
    if (absl::Status status = Value({entry, field.type->fields[1], -1}); !status.ok()) return status;
  }
  text_.push_back('}');
  return absl::OkStatus();
}

absl::Status JsonPrinter::Value(const Place& place) {
  const auto in_quotes = [&](auto number) {
    text_.push_back('"');
    AppendNumber(number, text_);
    text_.push_back('"');
  };
  switch (place.field.descriptor->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      AppendNumber(Get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32, place), text_);
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      AppendNumber(Get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32, place), text_);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      in_quotes(Get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64, place));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      in_quotes(Get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64, place));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      AppendFloat(Get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat, place), text_);
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      AppendFloat(Get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble, place), text_);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      text_ += Get(&Reflection::GetBool, &Reflection::GetRepeatedBool, place) ? "true" : "false";
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      Text(place);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      Enum(*place.field.descriptor->enum_type(),
           Get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue, place));
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Print(*place.field.type, MessageAt(place));
  }
  return absl::OkStatus();
}

absl::Status JsonPrinter::FieldMask(const JsonType& type, const Message& message) {
  const FieldDescriptor* paths = type.fields[0].descriptor;
  const Reflection& reflection = *message.GetReflection();
  const size_t before = text_.size();
  std::string scratch;
  text_.push_back('"');
  for (int i = 0; i < reflection.FieldSize(message, paths); ++i) {
    if (i > 0) text_.push_back(',');
    if (AppendMaskPath(reflection.GetRepeatedStringReference(message, paths, i, &scratch), text_)) continue;
    text_.resize(before);
    return protobuf_.Print(message, options_, text_);
  }
  text_.push_back('"');
  return absl::OkStatus();
}

void JsonPrinter::Key(const Place& place) {
  const FieldDescriptor::CppType type = place.field.descriptor->cpp_type();
  const bool bare = type == FieldDescriptor::CPPTYPE_INT32 || type == FieldDescriptor::CPPTYPE_UINT32 ||
                    type == FieldDescriptor::CPPTYPE_BOOL;
  if (bare) text_.push_back('"');
  Value(place).IgnoreError();  // a key is a scalar, which has none
  if (bare) text_.push_back('"');
}

void JsonPrinter::Text(const Place& place) {
  const Reflection& reflection = *place.message.GetReflection();
  const FieldDescriptor* field = place.field.descriptor;
  std::string scratch;
  const std::string& text =
      place.index < 0 ? reflection.GetStringReference(place.message, field, &scratch)
                      : reflection.GetRepeatedStringReference(place.message, field, place.index, &scratch);
  if (field->type() == FieldDescriptor::TYPE_BYTES) {
    AppendBase64(text, text_);
  } else {
    AppendJsonString(text, text_);
  }
}

void JsonPrinter::Enum(const EnumDescriptor& type, int number) {
  if (type.full_name() == kNullValue) {
    text_ += "null";
    return;
  }
  const auto* value = options_.enums_as_numbers ? nullptr : type.FindValueByNumber(number);
  if (value == nullptr) return AppendNumber(number, text_);
  absl::StrAppend(&text_, "\"", absl::string_view(value->name()), "\"");
}

// What a field without presence is when nothing was set.
void JsonPrinter::Absent(const FieldDescriptor& field) {
  if (field.is_repeated()) {
    text_ += field.is_map() ? "{}" : "[]";
    return;
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      text_ += "\"\"";
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      text_ += "false";
      break;
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      text_ += "\"0\"";
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      return Enum(*field.enum_type(), field.default_value_enum()->number());
    default:
      text_ += "0";
  }
}

}  // namespace cqbench::transcoding
