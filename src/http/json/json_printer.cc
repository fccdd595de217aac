#include "src/http/json/json_printer.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "src/http/json/json_text.h"
#include "src/http/json/time_text.h"

namespace cqbench::transcoding {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool JsonPrinter::IsPresent(const JsonField& field, const Owner& in) {
  return field.descriptor->is_repeated() ? in.reflection.FieldSize(in.message, field.descriptor) > 0
                                         : in.reflection.HasField(in.message, field.descriptor);
}

// By the pair of Reflection's functions for that type.
template <typename T>
T JsonPrinter::Get(T (Reflection::*single)(const Message&, const FieldDescriptor*) const,
                   T (Reflection::*element)(const Message&, const FieldDescriptor*, int) const, const Place& place) {
  const FieldDescriptor* field = place.field.descriptor;
  return place.index < 0 ? (place.in.reflection.*single)(place.in.message, field)
                         : (place.in.reflection.*element)(place.in.message, field, place.index);
}

const Message& JsonPrinter::Inside(const Place& place) {
  const FieldDescriptor* field = place.field.descriptor;
  return place.index < 0 ? place.in.reflection.GetMessage(place.in.message, field)
                         : place.in.reflection.GetRepeatedMessage(place.in.message, field, place.index);
}

absl::Status JsonPrinter::Print(const JsonType& type, const Message& message) {
  switch (type.form) {
    case JsonForm::kFields:
      return Fields(type, Owner(message));
    case JsonForm::kTimestamp:
    case JsonForm::kDuration:
      return Time(type, Owner(message));
    case JsonForm::kFieldMask:
      return FieldMask(type, Owner(message));
    case JsonForm::kWrapper:
      return Value({Owner(message), type.fields[0]});
    case JsonForm::kOther:
      break;
  }
  return protobuf_.Print(message, options_, text_);
}

absl::Status JsonPrinter::PrintField(const JsonField& field, const Message& message) {
  const Owner in(message);
  if (IsPresent(field, in)) return Present(field, in);
  if (!field.descriptor->is_repeated() && field.descriptor->has_presence()) {
    text_ += "null";
  } else {
    Absent(*field.descriptor);
  }
  return absl::OkStatus();
}

absl::Status JsonPrinter::Fields(const JsonType& type, const Owner& message) {
  char before = '{';
  for (const JsonField& field : type.fields) {
    const bool present = IsPresent(field, message);
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

absl::Status JsonPrinter::Present(const JsonField& field, const Owner& in) {
  if (field.descriptor->is_map()) return Map(field, in);
  return field.descriptor->is_repeated() ? List(field, in) : Value({in, field});
}

absl::Status JsonPrinter::List(const JsonField& field, const Owner& in) {
  const int size = in.reflection.FieldSize(in.message, field.descriptor);
  for (int i = 0; i < size; ++i) {
    text_.push_back(i == 0 ? '[' : ',');
    if (absl::Status status = Value({in, field, i}); !status.ok()) return status;
  }
  text_.push_back(']');
  return absl::OkStatus();
}

absl::Status JsonPrinter::Map(const JsonField& field, const Owner& in) {
  const int size = in.reflection.FieldSize(in.message, field.descriptor);
  for (int i = 0; i < size; ++i) {
    const Owner entry(in.reflection.GetRepeatedMessage(in.message, field.descriptor, i));
    text_.push_back(i == 0 ? '{' : ',');
    Key({entry, field.type->fields[0]});
    text_.push_back(':');
    if (absl::Status status = Value({entry, field.type->fields[1]}); !status.ok()) return status;
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
      return Print(*place.field.type, Inside(place));
  }
  return absl::OkStatus();
}

// Timestamp and Duration have the same fields.
absl::Status JsonPrinter::Time(const JsonType& type, const Owner& time) {
  const int64_t seconds = time.reflection.GetInt64(time.message, type.fields[0].descriptor);
  const int32_t nanos = time.reflection.GetInt32(time.message, type.fields[1].descriptor);
  const bool is_timestamp = type.form == JsonForm::kTimestamp;
  if (is_timestamp ? AppendTimestamp(seconds, nanos, text_) : AppendDuration(seconds, nanos, text_)) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(is_timestamp ? "a timestamp" : "a duration",
                                          " that JSON cannot say: ", seconds, " s and ", nanos, " ns"));
}

absl::Status JsonPrinter::FieldMask(const JsonType& type, const Owner& mask) {
  const FieldDescriptor* paths = type.fields[0].descriptor;
  const size_t before = text_.size();
  std::string scratch;
  text_.push_back('"');
  for (int i = 0; i < mask.reflection.FieldSize(mask.message, paths); ++i) {
    if (i > 0) text_.push_back(',');
    const std::string& path = mask.reflection.GetRepeatedStringReference(mask.message, paths, i, &scratch);
    if (AppendMaskPath(path, text_)) continue;
    text_.resize(before);
    return protobuf_.Print(mask.message, options_, text_);
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
  const Reflection& reflection = place.in.reflection;
  const FieldDescriptor* field = place.field.descriptor;
  std::string scratch;
  const std::string& text = place.index < 0
                                ? reflection.GetStringReference(place.in.message, field, &scratch)
                                : reflection.GetRepeatedStringReference(place.in.message, field, place.index, &scratch);
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
