#include "src/http/json/json.h"

#include <google/protobuf/wrappers.pb.h>

#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/base/clean_text.h"
#include "src/base/json_util.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using json_util::JsonStringToMessage;
using json_util::MessageToJsonString;

// protobuf's reason as one line, whichever class of Status has it. Further lines would show the text that is wrong.
template <typename Status>
std::string MessageOf(const Status& status) {
  const absl::string_view all(status.message().data(), status.message().size());
  return CleanText(all.substr(0, all.find('\n')), kMaxErrorBytes);
}

// Checks what can be seen without a type: the text is one value that is not too deep. protobuf would also take strings
// in single quotes, whose brackets and commas this function would misread.
absl::Status CheckOneValue(absl::string_view text) {
  const auto no_json = [&](absl::string_view what, size_t at) {
    return absl::InvalidArgumentError(absl::StrCat("the body is no JSON: ", what, ", at byte ", at));
  };
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != 0x7F) {
        return no_json("a control character in a string", i);
      }
      continue;
    }
    switch (c) {
      case '"':
        quoted = true;
        break;
      case '\'':
        return no_json("a '", i);
      case '{':
      case '[':
        if (++depth > kMaxJsonDepth) {
          return absl::InvalidArgumentError(
              absl::StrCat("the body is nested deeper than ", kMaxJsonDepth, " objects and arrays, at byte ", i));
        }
        break;
      case '}':
      case ']':
        if (--depth < 0) return no_json(c == '}' ? "a }" : "a ]", i);
        break;
      case ',':
      case ':':
        if (depth == 0) return no_json("more than one value", i);
        break;
      default:
        break;
    }
  }
  return depth > 0 || quoted ? no_json("it has no end", text.size()) : absl::OkStatus();
}

absl::Status ParseChecked(const std::string& text, Message& message) {
  message.Clear();
  const auto status = JsonStringToMessage(text, &message);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the body is no ", std::string(message.GetTypeName()), ": ", MessageOf(status)));
}

// The value of a field that has nothing in it.
std::string AbsentJson(const FieldDescriptor& field) {
  if (field.is_map()) return "{}";
  if (field.is_repeated()) return "[]";
  if (field.has_presence()) return "null";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "\"\"";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "false";
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return "\"0\"";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat("\"", std::string(field.default_value_enum()->name()), "\"");
    default:
      return "0";
  }
}

}  // namespace

absl::Status ParseJson(absl::string_view text, Message& message) {
  const absl::Status status = CheckOneValue(text);
  return status.ok() ? ParseChecked(std::string(text), message) : status;
}

// No function of protobuf's reads a field's value unless that is a message, so it becomes a message with nothing else.
absl::Status ParseJsonField(absl::string_view text, const FieldDescriptor& field, Message& message) {
  if (!field.is_repeated() && field.message_type() != nullptr &&
      field.message_type()->well_known_type() == Descriptor::WELLKNOWNTYPE_UNSPECIFIED) {
    return ParseJson(text, *message.GetReflection()->MutableMessage(&message, &field));
  }
  absl::Status status = CheckOneValue(text);
  if (!status.ok()) return status;
  const std::unique_ptr<Message> alone(message.New());
  status = ParseChecked(absl::StrCat("{\"", std::string(field.name()), "\":", text, "}"), *alone);
  if (status.ok()) message.MergeFrom(*alone);
  return status;
}

absl::Status PrintJson(const Message& message, std::string& text) {
  const auto status = MessageToJsonString(message, &text);
  return status.ok() ? absl::OkStatus() : absl::InternalError(MessageOf(status));
}

// No function of protobuf's writes a field, so it is cut out of a message with nothing else: {"name":VALUE}.
absl::Status PrintJsonField(const Message& message, const FieldDescriptor& field, std::string& text) {
  const Reflection& reflection = *message.GetReflection();
  const bool present =
      field.is_repeated() ? reflection.FieldSize(message, &field) > 0 : reflection.HasField(message, &field);
  if (!present) {
    text += AbsentJson(field);
    return absl::OkStatus();
  }
  if (!field.is_repeated() && field.message_type() != nullptr) {
    return PrintJson(reflection.GetMessage(message, &field), text);
  }
  const std::unique_ptr<Message> alone(message.New());
  alone->CopyFrom(message);
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* other : fields) {
    if (other != &field) reflection.ClearField(alone.get(), other);
  }
  std::string object;
  absl::Status status = PrintJson(*alone, object);
  const size_t value = object.find("\":") + 2;
  if (status.ok()) text.append(object, value, object.size() - value - 1);
  return status;
}

void AppendJsonString(absl::string_view value, std::string& text) {
  google::protobuf::StringValue string;
  string.set_value(ValidUtf8(value));
  if (!MessageToJsonString(string, &text).ok()) text += "\"\"";
}

}  // namespace cqbench::transcoding
