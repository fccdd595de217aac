#include "src/http/json/json.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/http/json/json_parser.h"
#include "src/http/json/json_printer.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Not the whole of a long text.
std::string Shortened(absl::string_view why) {
  constexpr size_t kLongest = 300;
  return absl::StrCat(why.substr(0, kLongest), why.size() > kLongest ? " ..." : "");
}

// A text that is no JSON is refused for that, not for the first of its fields that is wrong.
absl::Status Refusal(const absl::Status& why, absl::string_view text, int max_depth, const Message& message) {
  if (absl::Status status = CheckJson(text, max_depth); !status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("the body is no ", std::string(message.GetTypeName()), ": ", Shortened(why.message())));
}

absl::Status NotAdded(const Message& message) {
  return absl::InternalError(absl::StrCat("the type ", std::string(message.GetTypeName()), " was not added"));
}

bool IsOther(const Message& message) {
  return FormOf(*message.GetDescriptor()) == JsonForm::kOther;
}

const JsonField* FieldOf(const JsonType* type, const FieldDescriptor& field) {
  if (type == nullptr) return nullptr;
  const auto found = type->by_name.find(field.name());
  return found == type->by_name.end() ? nullptr : found->second;
}

}  // namespace

absl::Status Json::Parse(absl::string_view text, Message& message) const {
  const JsonType* type = types_.Find(*message.GetDescriptor());
  if (type == nullptr) return NotAdded(message);
  message.Clear();
  const absl::Status status = JsonParser(text, options_, protobuf_).Parse(*type, message);
  return status.ok() ? status : Refusal(status, text, options_.max_depth, message);
}

absl::Status Json::ParseField(absl::string_view text, const FieldDescriptor& field, Message& message) const {
  const JsonField* known = FieldOf(types_.Find(*message.GetDescriptor()), field);
  if (known == nullptr) return NotAdded(message);
  if (known->type != nullptr && known->type->form == JsonForm::kFields && !field.is_repeated()) {
    return Parse(text, *message.GetReflection()->MutableMessage(&message, &field));
  }
  const absl::Status status = JsonParser(text, options_, protobuf_).ParseField(*known, message);
  return status.ok() ? status : Refusal(status, text, options_.max_depth, message);
}

absl::Status Json::Print(const Message& message, std::string& text) const {
  const JsonType* type = types_.Find(*message.GetDescriptor());
  if (type != nullptr) return JsonPrinter(options_, protobuf_, text).Print(*type, message);
  return IsOther(message) ? protobuf_.Print(message, options_, text) : NotAdded(message);
}

absl::Status Json::PrintField(const Message& message, const FieldDescriptor& field, std::string& text) const {
  const JsonField* known = FieldOf(types_.Find(*message.GetDescriptor()), field);
  return known == nullptr ? NotAdded(message) : JsonPrinter(options_, protobuf_, text).PrintField(*known, message);
}

absl::Status CheckJson(absl::string_view text, int max_depth) {
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
        if (++depth > max_depth) {
          return absl::InvalidArgumentError(
              absl::StrCat("the body is nested deeper than ", max_depth, " objects and arrays, at byte ", i));
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

}  // namespace cqbench::transcoding
