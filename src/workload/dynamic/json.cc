#include "src/workload/dynamic/json.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/base/json_util.h"

namespace cqbench {
namespace {

bool IsBetween(char c) {
  return absl::ascii_isspace(static_cast<unsigned char>(c)) || c == ',';
}

// Returns where the value that begins at `at` ends: after its last bracket, or at what follows a bare word. npos: it
// does not.
size_t EndOfValue(absl::string_view text, size_t at) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return i;
      --depth;
    } else if (depth == 0 && IsBetween(c)) {
      return i;
    }
    if (depth == 0 && (c == '}' || c == ']')) return i + 1;
  }
  return depth == 0 && !quoted ? text.size() : absl::string_view::npos;
}

}  // namespace

absl::StatusOr<std::vector<absl::string_view>> SplitJson(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (!text.empty() && text.front() == '[' && EndOfValue(text, 0) == text.size()) {
    text = text.substr(1, text.size() - 2);
  }
  std::vector<absl::string_view> values;
  for (size_t at = 0;;) {
    while (at < text.size() && IsBetween(text[at])) ++at;
    if (at == text.size()) return values;
    const size_t end = EndOfValue(text, at);
    if (end == absl::string_view::npos || end == at) {
      return absl::InvalidArgumentError(absl::StrCat("JSON value ", values.size() + 1, " has no end, or no beginning"));
    }
    values.push_back(text.substr(at, end - at));
    at = end;
  }
}

absl::Status ParseJson(absl::string_view json, google::protobuf::Message& message) {
  const auto status = json_util::JsonStringToMessage({json.data(), json.size()}, &message);
  if (status.ok()) return absl::OkStatus();
  std::string why(status.message().data(), status.message().size());
  std::replace(why.begin(), why.end(), '\n', ' ');
  // The library may quote the whole text.
  constexpr size_t kLongest = 300;
  if (why.size() > kLongest) why = why.substr(0, kLongest) + " ...";
  return absl::InvalidArgumentError(absl::StrCat("not a ", std::string(message.GetTypeName()), ": ", why));
}

absl::StatusOr<std::vector<std::string>> JsonToBytes(absl::string_view text, const Descriptors& descriptors,
                                                     const google::protobuf::Descriptor* type) {
  const auto values = SplitJson(text);
  if (!values.ok()) return values.status();
  if (values->size() > kMaxMessages) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", values->size(), " messages, of ", kMaxMessages, " accepted"));
  }
  if (values->empty()) return absl::InvalidArgumentError("has no JSON value: {} is an empty message");
  std::vector<std::string> all;
  for (size_t i = 0; i < values->size(); ++i) {
    const std::unique_ptr<google::protobuf::Message> message(descriptors.Prototype(type).New());
    absl::Status status = ParseJson((*values)[i], *message);
    if (status.ok() && !message->IsInitialized()) {
      status = absl::InvalidArgumentError(absl::StrCat("lacks ", message->InitializationErrorString()));
    }
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(values->size() > 1 ? absl::StrCat("message ", i + 1, ": ") : "", status.message()));
    }
    all.push_back(message->SerializeAsString());
  }
  return all;
}

}  // namespace cqbench
