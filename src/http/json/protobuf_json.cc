#include "src/http/json/protobuf_json.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/type_resolver_util.h>
#if __has_include(<google/protobuf/json/json.h>)
#include <google/protobuf/json/json.h>
#define CQBENCH_NEW_JSON_UTIL 1
#else
#include <google/protobuf/util/json_util.h>
#define CQBENCH_NEW_JSON_UTIL 0
#endif

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Message;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::StringOutputStream;
#if CQBENCH_NEW_JSON_UTIL
namespace json_util = google::protobuf::json;
using ParseOptions = json_util::ParseOptions;
using PrintOptions = json_util::PrintOptions;
#else
namespace json_util = google::protobuf::util;
using ParseOptions = json_util::JsonParseOptions;
using PrintOptions = json_util::JsonPrintOptions;
#endif

constexpr char kUrlPrefix[] = "type.googleapis.com";

// Both generations convert between JSON and bytes by a resolver; with messages themselves, the older looks up the types
// of one that is not generated in yet another way.
std::string UrlOf(const Message& message) {
  return absl::StrCat(kUrlPrefix, "/", std::string(message.GetDescriptor()->full_name()));
}

// One line, whichever class of Status it is.
template <typename Status>
std::string Why(const Status& status) {
  std::string line(status.message().data(), status.message().size());
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

PrintOptions HowToPrint(const JsonOptions& options) {
  PrintOptions how;
#if CQBENCH_NEW_JSON_UTIL
  how.always_print_fields_with_no_presence = options.print_defaults;
#else
  how.always_print_primitive_fields = options.print_defaults;
#endif
  how.always_print_enums_as_ints = options.enums_as_numbers;
  how.preserve_proto_field_names = options.proto_names;
  return how;
}

}  // namespace

ProtobufJson::ProtobufJson(const google::protobuf::DescriptorPool& pool)
    : resolver_(google::protobuf::util::NewTypeResolverForDescriptorPool(kUrlPrefix, &pool)) {}

absl::Status ProtobufJson::Parse(absl::string_view text, const JsonOptions& options, Message& message) const {
  ParseOptions how;
  how.ignore_unknown_fields = options.ignore_unknown_fields;
  ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  std::string bytes;
  StringOutputStream output(&bytes);
  const auto status = json_util::JsonToBinaryStream(resolver_.get(), UrlOf(message), &input, &output, how);
  if (!status.ok()) return absl::InvalidArgumentError(Why(status));
  return message.ParsePartialFromString(bytes) ? absl::OkStatus() : absl::InvalidArgumentError("it is too deep");
}

// No function reads one value, so it becomes a message with nothing else.
absl::Status ProtobufJson::ParseField(absl::string_view value, const JsonOptions& options,
                                      const google::protobuf::FieldDescriptor& field, Message& message) const {
  const std::unique_ptr<Message> alone(message.New());
  const absl::Status status = Parse(absl::StrCat("{\"", std::string(field.name()), "\":", value, "}"), options, *alone);
  if (status.ok()) message.MergeFrom(*alone);
  return status;
}

absl::Status ProtobufJson::Print(const Message& message, const JsonOptions& options, std::string& text) const {
  const std::string bytes = message.SerializePartialAsString();
  ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
  StringOutputStream output(&text);
  const auto status =
      json_util::BinaryToJsonStream(resolver_.get(), UrlOf(message), &input, &output, HowToPrint(options));
  return status.ok() ? absl::OkStatus() : absl::InternalError(Why(status));
}

}  // namespace cqbench::transcoding
