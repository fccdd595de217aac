#include "src/transcoding/json.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/type_resolver_util.h>
#if __has_include(<google/protobuf/json/json.h>)
#include <google/protobuf/json/json.h>
#define CQBENCH_JSON_OF_MESSAGES 1
#else
#include <google/protobuf/util/json_util.h>
#define CQBENCH_JSON_OF_MESSAGES 0
#endif

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/transcoding/percent.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::io::ArrayInputStream;

constexpr char kUrlPrefix[] = "type.googleapis.com";

// One line, and not the whole of a long text.
std::string Shortened(absl::string_view why) {
  constexpr size_t kLongest = 300;
  std::string line(why.substr(0, kLongest));
  std::replace(line.begin(), line.end(), '\n', ' ');
  if (why.size() > kLongest) line += " ...";
  return line;
}

template <typename Status>
absl::Status BadJson(const Status& status, const Message& message) {
  const absl::string_view why(status.message().data(), status.message().size());
  return absl::InvalidArgumentError(
      absl::StrCat("the body is no ", std::string(message.GetTypeName()), ": ", Shortened(why)));
}

// A JSON text: `middle` as it came, and what makes an object of it, or nothing.
struct Parts {
  absl::string_view begin, middle, end;
};

#if CQBENCH_JSON_OF_MESSAGES

// Newer protobuf reads and writes messages directly.

absl::Status ParseJson(const Parts& parts, const JsonOptions& options, google::protobuf::util::TypeResolver*,
                       Message& message) {
  google::protobuf::json::ParseOptions how;
  how.ignore_unknown_fields = options.ignore_unknown_fields;
  absl::Status status;
  if (parts.begin.empty()) {
    status = google::protobuf::json::JsonStringToMessage(parts.middle, &message, how);
  } else {
    const std::string whole = absl::StrCat(parts.begin, parts.middle, parts.end);
    status = google::protobuf::json::JsonStringToMessage(whole, &message, how);
  }
  return status.ok() ? absl::OkStatus() : BadJson(status, message);
}

absl::Status PrintJson(const Message& message, const JsonOptions& options, bool defaults,
                       google::protobuf::util::TypeResolver*, std::string& text) {
  google::protobuf::json::PrintOptions how;
  how.always_print_fields_with_no_presence = defaults;
  how.always_print_enums_as_ints = options.enums_as_numbers;
  how.preserve_proto_field_names = options.proto_names;
  const absl::Status status = google::protobuf::json::MessageToJsonString(message, &text, how);
  return status.ok() ? absl::OkStatus() : absl::InternalError(Shortened(status.message()));
}

#else

// 3.21 converts between JSON and bytes. Its functions for messages do the same, and look the types of a message that is
// not generated up anew each time; one resolver for all calls is what its API has against that.

std::string UrlOf(const Message& message) {
  return absl::StrCat(kUrlPrefix, "/", message.GetDescriptor()->full_name());
}

absl::Status ParseJson(const Parts& parts, const JsonOptions& options, google::protobuf::util::TypeResolver* resolver,
                       Message& message) {
  google::protobuf::util::JsonParseOptions how;
  how.ignore_unknown_fields = options.ignore_unknown_fields;
  ArrayInputStream begin(parts.begin.data(), static_cast<int>(parts.begin.size()));
  ArrayInputStream middle(parts.middle.data(), static_cast<int>(parts.middle.size()));
  ArrayInputStream end(parts.end.data(), static_cast<int>(parts.end.size()));
  google::protobuf::io::ZeroCopyInputStream* streams[] = {&begin, &middle, &end};
  google::protobuf::io::ConcatenatingInputStream whole(streams, 3);
  std::string bytes;
  google::protobuf::io::StringOutputStream output(&bytes);
  const auto status = google::protobuf::util::JsonToBinaryStream(resolver, UrlOf(message), &whole, &output, how);
  if (!status.ok()) return BadJson(status, message);
  if (!message.ParsePartialFromString(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("the body is no ", message.GetTypeName()));
  }
  return absl::OkStatus();
}

absl::Status PrintJson(const Message& message, const JsonOptions& options, bool defaults,
                       google::protobuf::util::TypeResolver* resolver, std::string& text) {
  google::protobuf::util::JsonPrintOptions how;
  how.always_print_primitive_fields = defaults;
  how.always_print_enums_as_ints = options.enums_as_numbers;
  how.preserve_proto_field_names = options.proto_names;
  const std::string bytes = message.SerializePartialAsString();
  ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::StringOutputStream output(&text);
  const auto status = google::protobuf::util::BinaryToJsonStream(resolver, UrlOf(message), &input, &output, how);
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError(Shortened({status.message().data(), status.message().size()}));
}

#endif

bool HasPlainMessages(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_map() &&
         field.message_type()->well_known_type() == google::protobuf::Descriptor::WELLKNOWNTYPE_UNSPECIFIED;
}

bool IsPlainMessage(const FieldDescriptor& field) {
  return HasPlainMessages(field) && !field.is_repeated();
}

// What a field without presence is when nothing was set.
std::string EmptyValue(const FieldDescriptor& field, bool enums_as_numbers) {
  if (field.is_map()) return "{}";
  if (field.is_repeated()) return "[]";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "\"\"";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "false";
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return "\"0\"";
    case FieldDescriptor::CPPTYPE_ENUM:
      return enums_as_numbers ? "0" : absl::StrCat("\"", std::string(field.default_value_enum()->name()), "\"");
    default:
      return "0";
  }
}

}  // namespace

Json::Json(const google::protobuf::DescriptorPool& pool, const JsonOptions& options)
    : options_(options), resolver_(google::protobuf::util::NewTypeResolverForDescriptorPool(kUrlPrefix, &pool)) {}

absl::Status Json::Parse(absl::string_view text, Message& message) const {
  if (absl::Status status = CheckJson(text, options_.max_depth); !status.ok()) return status;
  return ParseJson({"", text, ""}, options_, resolver_.get(), message);
}

absl::Status Json::ParseField(absl::string_view text, const FieldDescriptor& field, Message& message) const {
  if (IsPlainMessage(field)) return Parse(text, *message.GetReflection()->MutableMessage(&message, &field));
  if (absl::Status status = CheckJson(text, options_.max_depth - 1); !status.ok()) return status;
  const std::string begin = absl::StrCat("{\"", std::string(field.name()), "\":");
  return ParseJson({begin, text, "}"}, options_, resolver_.get(), message);
}

absl::Status Json::Print(const Message& message, std::string& text) const {
  return PrintJson(message, options_, options_.print_defaults, resolver_.get(), text);
}

absl::Status Json::PrintField(const Message& message, const FieldDescriptor& field, std::string& text) const {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated() ? reflection.FieldSize(message, &field) == 0 : !reflection.HasField(message, &field)) {
    text += !field.is_repeated() && field.has_presence() ? "null" : EmptyValue(field, options_.enums_as_numbers);
    return absl::OkStatus();
  }
  if (!HasPlainMessages(field)) return PrintAlone(message, field, text);
  if (!field.is_repeated()) return Print(reflection.GetMessage(message, &field), text);
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    text.push_back(i == 0 ? '[' : ',');
    const absl::Status status = Print(reflection.GetRepeatedMessage(message, &field, i), text);
    if (!status.ok()) return status;
  }
  text.push_back(']');
  return absl::OkStatus();
}

// No function prints one value, so that of a message with nothing else is taken out of its object.
absl::Status Json::PrintAlone(const Message& message, const FieldDescriptor& field, std::string& text) const {
  const std::unique_ptr<Message> alone(message.New());
  alone->CopyFrom(message);
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i) != &field) alone->GetReflection()->ClearField(alone.get(), type.field(i));
  }
  std::string object;
  const absl::Status status = PrintJson(*alone, options_, /*defaults=*/false, resolver_.get(), object);
  if (!status.ok()) return status;
  std::string before = "{";
  AppendJsonString(options_.proto_names ? std::string(field.name()) : std::string(field.json_name()), before);
  before += ":";
  if (!absl::StartsWith(object, before)) return absl::InternalError("a field was printed under another name");
  text.append(object, before.size(), object.size() - before.size() - 1);
  return absl::OkStatus();
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

void AppendJsonString(absl::string_view text, std::string& json) {
  json.push_back('"');
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      json.push_back('\\');
      json.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      constexpr char kHex[] = "0123456789abcdef";
      absl::StrAppend(&json, "\\u00", absl::string_view(&kHex[c >> 4], 1), absl::string_view(&kHex[c & 15], 1));
    } else {
      const size_t length = Utf8Length(text.substr(i));
      if (length == 0) {
        json += "\xEF\xBF\xBD";
      } else {
        json.append(text.data() + i, length);
      }
      i += std::max<size_t>(length, 1);
      continue;
    }
    ++i;
  }
  json.push_back('"');
}

}  // namespace cqbench::transcoding
