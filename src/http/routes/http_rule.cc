#include "src/http/routes/http_rule.h"

#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace cqbench::transcoding {
namespace {

using google::api::HttpRule;
using google::protobuf::FieldDescriptor;
using google::protobuf::MethodDescriptor;

// The HTTP method and the path that a rule has. Empty: it has none.
std::pair<std::string, std::string> PatternOf(const HttpRule& rule) {
  switch (rule.pattern_case()) {
    case HttpRule::kGet:
      return {"GET", rule.get()};
    case HttpRule::kPut:
      return {"PUT", rule.put()};
    case HttpRule::kPost:
      return {"POST", rule.post()};
    case HttpRule::kDelete:
      return {"DELETE", rule.delete_()};
    case HttpRule::kPatch:
      return {"PATCH", rule.patch()};
    case HttpRule::kCustom:
      return {rule.custom().kind(), rule.custom().path()};
    case HttpRule::PATTERN_NOT_SET:
      break;
  }
  return {};
}

// RFC 9110's token.
bool IsToken(absl::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
        absl::string_view("!#$%&'*+-.^_`|~").find(c) == absl::string_view::npos) {
      return false;
    }
  }
  return !text.empty();
}

absl::StatusOr<FieldPath> VariablePath(const MethodDescriptor& method, const TemplateVariable& variable) {
  absl::StatusOr<FieldPath> path = FindFieldPath(*method.input_type(), variable.field_path);
  if (!path.ok()) return path;
  const FieldDescriptor& field = *path->back();
  if (field.is_repeated() || field.message_type() != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the variable ", variable.field_path, " is no single field of a primitive type"));
  }
  return path;
}

absl::Status ResolvePath(Binding& binding) {
  absl::StatusOr<PathTemplate> path = ParsePathTemplate(binding.text);
  if (!path.ok()) return path.status();
  binding.path = *std::move(path);
  for (const TemplateVariable& variable : binding.path.variables) {
    absl::StatusOr<FieldPath> fields = VariablePath(*binding.method, variable);
    if (!fields.ok()) return fields.status();
    for (const FieldPath& other : binding.variables) {
      const auto* oneof = fields->back()->containing_oneof();
      if (oneof != nullptr && other.back()->containing_oneof() == oneof &&
          FieldPath(other.begin(), other.end() - 1) == FieldPath(fields->begin(), fields->end() - 1)) {
        return absl::InvalidArgumentError(absl::StrCat("two variables are of the oneof ", std::string(oneof->name())));
      }
    }
    binding.variables.push_back(*std::move(fields));
  }
  return absl::OkStatus();
}

absl::Status ResolveBodies(const HttpRule& rule, Binding& binding) {
  if (rule.body() == "*") {
    binding.body = Binding::Body::kAll;
  } else if (!rule.body().empty()) {
    binding.body = Binding::Body::kField;
    binding.body_field = binding.method->input_type()->FindFieldByName(rule.body());
    if (binding.body_field == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("body: ", std::string(binding.method->input_type()->full_name()),
                                                     " has no field '", rule.body(), "' at its top"));
    }
    for (const FieldPath& variable : binding.variables) {
      if (variable.size() == 1 && variable.front() == binding.body_field) {
        return absl::InvalidArgumentError(absl::StrCat("the field ", rule.body(), " is in the path and the body"));
      }
    }
  }
  if (!rule.response_body().empty()) {
    binding.response_field = binding.method->output_type()->FindFieldByName(rule.response_body());
    if (binding.response_field == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("response_body: ", std::string(binding.method->output_type()->full_name()), " has no field '",
                       rule.response_body(), "' at its top"));
    }
  }
  return absl::OkStatus();
}

absl::Status ResolveOne(const HttpRule& rule, Binding& binding) {
  std::tie(binding.http_method, binding.text) = PatternOf(rule);
  if (rule.pattern_case() == HttpRule::PATTERN_NOT_SET) return absl::InvalidArgumentError("it has no pattern");
  if (!IsToken(binding.http_method)) {
    return absl::InvalidArgumentError(absl::StrCat("'", binding.http_method, "' is no HTTP method"));
  }
  if (!rule.selector().empty() && rule.selector() != std::string(binding.method->full_name())) {
    return absl::InvalidArgumentError(absl::StrCat("its selector is another method, ", rule.selector()));
  }
  if (binding.method->client_streaming()) {
    return absl::InvalidArgumentError("one HTTP request cannot be a stream of requests");
  }
  if (absl::Status status = ResolvePath(binding); !status.ok()) return status;
  return ResolveBodies(rule, binding);
}

void Add(const MethodDescriptor& method, const HttpRule& rule, bool is_additional, std::vector<Binding>& bindings,
         std::vector<std::string>& refused) {
  Binding binding;
  binding.method = &method;
  absl::Status status = ResolveOne(rule, binding);
  if (status.ok() && is_additional && rule.additional_bindings_size() > 0) {
    status = absl::InvalidArgumentError("an additional binding has additional bindings itself");
  }
  if (status.ok()) {
    bindings.push_back(std::move(binding));
  } else {
    refused.push_back(RefusalOf(binding, status.message()));
  }
}

}  // namespace

std::string RefusalOf(const Binding& binding, absl::string_view why) {
  return absl::StrCat("the http rule of ", std::string(binding.method->full_name()), " (", binding.http_method, " ",
                      binding.text, "): ", why);
}

std::vector<Binding> ResolveRule(const MethodDescriptor& method, const HttpRule& rule,
                                 std::vector<std::string>& refused) {
  std::vector<Binding> bindings;
  Add(method, rule, /*is_additional=*/false, bindings, refused);
  for (const HttpRule& additional : rule.additional_bindings()) {
    Add(method, additional, /*is_additional=*/true, bindings, refused);
  }
  return bindings;
}

}  // namespace cqbench::transcoding
