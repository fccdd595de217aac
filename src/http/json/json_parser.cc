#include "src/http/json/json_parser.h"

#include <cmath>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/http/json/field_value.h"
#include "src/http/json/shown.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Kind = JsonReader::Kind;

bool IsFloat(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT || field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
}

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kObject:
      return "an object";
    case Kind::kArray:
      return "an array";
    case Kind::kString:
      return "a string";
    case Kind::kNumber:
      return "a number";
    case Kind::kNull:
      return "null";
    default:
      return "true or false";
  }
}

}  // namespace

void JsonParser::StoreText(absl::string_view text, const FieldDescriptor& field, const Owner& in) {
  if (field.is_repeated()) {
    in.reflection.AddString(&in.message, &field, std::string(text));
  } else {
    in.reflection.SetString(&in.message, &field, std::string(text));
  }
}

// Of those that hold one of their members already.
absl::Status JsonParser::CheckOneof(const FieldDescriptor& field, const Owner& in) {
  const auto* oneof = field.real_containing_oneof();
  if (oneof == nullptr) return absl::OkStatus();
  const FieldDescriptor* set = in.reflection.GetOneofFieldDescriptor(in.message, oneof);
  if (set == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(std::string(set->name()), " of the same oneof is set already"));
}

absl::Status JsonParser::Parse(const JsonType& type, Message& message) {
  return Finished(Whole(type, message));
}

absl::Status JsonParser::ParseField(const JsonField& field, Message& message) {
  return Finished(Member(field, Owner(message)));
}

absl::Status JsonParser::Finished(absl::Status status) {
  if (!status.ok()) {
    return where_.empty() ? status : absl::InvalidArgumentError(absl::StrCat(where_, ": ", status.message()));
  }
  return reader_.AtEnd() ? status : absl::InvalidArgumentError("something follows the value");
}

absl::Status JsonParser::Whole(const JsonType& type, Message& message) {
  absl::string_view text;
  switch (type.form) {
    case JsonForm::kFields:
      return Object(type, message);
    case JsonForm::kWrapper:
      return Value(type.fields[0], Owner(message));
    case JsonForm::kOther:
      return reader_.Skip(text) ? protobuf_.Parse(text, options_, message) : reader_.status();
    default:
      break;
  }
  if (reader_.Peek() != Kind::kString) return Other("a string");
  return reader_.ReadString(text) ? SetFromText(text, message) : reader_.status();
}

absl::Status JsonParser::Object(const JsonType& type, Message& message) {
  if (reader_.Peek() != Kind::kObject) return Other("an object");
  if (!reader_.Enter()) return reader_.status();
  const Owner in(message);
  absl::string_view name;
  while (reader_.NextMember(name)) {
    const auto found = type.by_name.find(name);
    if (found == type.by_name.end()) {
      if (absl::Status status = Unknown(name); !status.ok()) return status;
      continue;
    }
    if (absl::Status status = Member(*found->second, in); !status.ok()) {
      where_ = absl::StrCat(absl::string_view(found->second->descriptor->name()), where_.empty() ? "" : ".", where_);
      return status;
    }
  }
  return reader_.status();
}

absl::Status JsonParser::Unknown(absl::string_view name) {
  if (!options_.ignore_unknown_fields) {
    return absl::InvalidArgumentError(absl::StrCat("there is no field '", Shown(name), "'"));
  }
  absl::string_view passed_over;
  return reader_.Skip(passed_over) ? absl::OkStatus() : reader_.status();
}

absl::Status JsonParser::Member(const JsonField& field, const Owner& in) {
  const Kind kind = reader_.Peek();
  if (field.is_other) {
    absl::string_view value;
    if (!reader_.Skip(value)) return reader_.status();
    if (absl::Status status = CheckOneof(*field.descriptor, in); !status.ok()) return status;
    return protobuf_.ParseField(value, options_, *field.descriptor, in.message);
  }
  if (kind == Kind::kNull) return reader_.ReadWord() ? absl::OkStatus() : reader_.status();
  if (field.descriptor->is_map()) return Map(field, in);
  if (field.descriptor->is_repeated()) return List(field, in);
  const absl::Status status = CheckOneof(*field.descriptor, in);
  return status.ok() ? Value(field, in) : status;
}

absl::Status JsonParser::List(const JsonField& field, const Owner& in) {
  if (reader_.Peek() != Kind::kArray) return Other("an array");
  if (!reader_.Enter()) return reader_.status();
  while (reader_.NextElement()) {
    if (absl::Status status = Value(field, in); !status.ok()) return status;
  }
  return reader_.status();
}

absl::Status JsonParser::Map(const JsonField& field, const Owner& in) {
  if (reader_.Peek() != Kind::kObject) return Other("an object");
  if (!reader_.Enter()) return reader_.status();
  absl::flat_hash_set<std::string> keys;
  absl::string_view key;
  while (reader_.NextMember(key)) {
    if (!keys.emplace(key).second) {
      return absl::InvalidArgumentError(absl::StrCat("the key '", Shown(key), "' is there twice"));
    }
    const Owner entry(*in.reflection.AddMessage(&in.message, field.descriptor));
    absl::Status status = SetFromText(key, *field.type->fields[0].descriptor, entry.message);
    const JsonField& value = field.type->fields[1];
    passed_over_ = false;
    if (status.ok()) status = Value(value, entry);
    if (!status.ok()) return status;
    if (passed_over_ && value.descriptor->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      in.reflection.RemoveLast(&in.message, field.descriptor);
    }
  }
  return reader_.status();
}

absl::Status JsonParser::Value(const JsonField& field, const Owner& in) {
  if (field.type == nullptr) return Scalar(*field.descriptor, in);
  Message* inside = field.descriptor->is_repeated() ? in.reflection.AddMessage(&in.message, field.descriptor)
                                                    : in.reflection.MutableMessage(&in.message, field.descriptor);
  return Whole(*field.type, *inside);
}

absl::Status JsonParser::Scalar(const FieldDescriptor& field, const Owner& in) {
  const Kind kind = reader_.Peek();
  const FieldDescriptor::CppType type = field.cpp_type();
  if (kind == Kind::kString) return Text(field, in);
  if (kind == Kind::kNumber && type != FieldDescriptor::CPPTYPE_STRING && type != FieldDescriptor::CPPTYPE_BOOL) {
    return Number(field, in);
  }
  if ((kind == Kind::kTrue || kind == Kind::kFalse) && type == FieldDescriptor::CPPTYPE_BOOL) {
    if (!reader_.ReadWord()) return reader_.status();
    return SetFromText(kind == Kind::kTrue ? "true" : "false", field, in.message);
  }
  return Other(absl::StrCat("a value of type ", absl::string_view(field.type_name())));
}

absl::Status JsonParser::Text(const FieldDescriptor& field, const Owner& in) {
  absl::string_view text;
  if (!reader_.ReadString(text)) return reader_.status();
  if (field.type() == FieldDescriptor::TYPE_STRING) {
    StoreText(text, field, in);  // the reader has looked whether it is UTF-8
    return absl::OkStatus();
  }
  absl::Status status = SetFromText(text, field, in.message);
  if (status.ok() || !options_.ignore_unknown_fields || field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM)
    return status;
  passed_over_ = true;
  return absl::OkStatus();
}

absl::Status JsonParser::Number(const FieldDescriptor& field, const Owner& in) {
  absl::string_view text;
  if (!reader_.ReadNumber(text)) return reader_.status();
  if (IsFloat(field) || (text.find_first_of(".eE") == absl::string_view::npos && text != "-0")) {
    return SetFromText(text, field, in.message);
  }
  // Whole numbers may be written as 1.0 or 1e3.
  double value = 0;
  const bool whole = absl::SimpleAtod(text, &value) && std::abs(value) < 1e20 && std::trunc(value) == value;
  return SetFromText(whole ? absl::StrFormat("%.0f", value + 0.0) : text, field, in.message);
}

// What is there is not what is wanted.
absl::Status JsonParser::Other(absl::string_view expected) {
  const Kind kind = reader_.Peek();
  absl::string_view text;
  if (!reader_.Skip(text)) return reader_.status();
  return absl::InvalidArgumentError(absl::StrCat("it is ", NameOf(kind), " instead of ", expected));
}

}  // namespace cqbench::transcoding
