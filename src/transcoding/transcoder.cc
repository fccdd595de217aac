#include "src/transcoding/transcoder.h"

#include <google/api/annotations.pb.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/transcoding/field_value.h"
#include "src/transcoding/http_status.h"
#include "src/transcoding/percent.h"

namespace cqbench::transcoding {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

HttpError Transcoder::ErrorOf(Found found, const HttpRequest& request) const {
  HttpError error;
  absl::StatusCode code = absl::StatusCode::kNotFound;
  std::string message = "no method has this path";
  error.http_status = 404;
  if (found == Found::kOtherMethod) {
    error.http_status = 405;
    error.allow = AllowedMethods(request.path);
    code = absl::StatusCode::kUnimplemented;
    message = absl::StrCat("this path has ", error.allow);
  }
  AppendErrorJson(static_cast<int>(code), message, {}, json(), error.json);
  return error;
}

HttpError Transcoder::ErrorOf(int grpc_code, absl::string_view message, absl::string_view status_proto) const {
  HttpError error;
  error.http_status = HttpStatusOf(grpc_code);
  AppendErrorJson(grpc_code, message, status_proto, json(), error.json);
  return error;
}

HttpError Transcoder::ErrorOf(const absl::Status& status) const {
  return ErrorOf(static_cast<int>(status.code()), status.message());
}

absl::Status CheckLimits(const HttpRequest& request, const TranscodingOptions& options) {
  if (request.path.size() + request.query.size() > options.max_target_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("path and query are longer than ", options.max_target_bytes, " bytes"));
  }
  if (request.body.size() > options.max_body_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the body is longer than ", options.max_body_bytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status BindCaptures(const Binding& binding, const Captures& captures, Message& message) {
  std::string buffer;
  for (size_t i = 0; i < captures.size(); ++i) {
    const TemplateVariable& variable = binding.path.variables[i];
    const Slashes slashes = variable.multi_segment ? Slashes::kKeepEncoded : Slashes::kDecode;
    const FieldPath& path = binding.variables[i];
    absl::string_view text;
    const absl::Status status = PercentDecode(captures[i], slashes, buffer, text)
                                    ? SetFromText(text, *path.back(), OwnerOf(path, message))
                                    : absl::InvalidArgumentError("'%' is not followed by two hexadecimal digits");
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(variable.field_path, " in the path: ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DescriptorTranscoder>> DescriptorTranscoder::Make(
    const DescriptorPool& pool, MessageFactory& factory, const std::vector<std::string>& services,
    const TranscodingOptions& options) {
  std::unique_ptr<DescriptorTranscoder> transcoder(new DescriptorTranscoder(pool, options));
  for (const std::string& name : services) {
    const ServiceDescriptor* service = pool.FindServiceByName(name);
    if (service == nullptr) return absl::NotFoundError(absl::StrCat("there is no service ", name));
    for (int i = 0; i < service->method_count(); ++i) {
      if (absl::Status status = transcoder->Add(*service->method(i), factory); !status.ok()) return status;
    }
  }
  return transcoder;
}

absl::Status DescriptorTranscoder::Add(const MethodDescriptor& method, MessageFactory& factory) {
  if (!method.options().HasExtension(google::api::http)) return absl::OkStatus();
  absl::StatusOr<std::vector<Binding>> bindings = ResolveRule(method, method.options().GetExtension(google::api::http));
  if (!bindings.ok()) return bindings.status();
  for (Binding& binding : *bindings) {
    binding.rpc = methods_.size();
    if (absl::Status status = table_.Add(std::move(binding)); !status.ok()) return status;
  }
  Rpc rpc;
  rpc.method = &method;
  rpc.path = absl::StrCat("/", std::string(method.service()->full_name()), "/", std::string(method.name()));
  rpc.request = factory.GetPrototype(method.input_type());
  rpc.response = factory.GetPrototype(method.output_type());
  json_.Add(*method.input_type());
  json_.Add(*method.output_type());
  methods_.push_back({std::move(rpc), &types_.Of(*method.input_type())});
  return absl::OkStatus();
}

Found DescriptorTranscoder::Find(const HttpRequest& request, Call& call) const {
  const Found found = table_.Find(request.method, request.path, call.binding, call.captures);
  if (found == Found::kYes) call.rpc = &methods_[call.binding->rpc].rpc;
  return found;
}

// The body comes first, for reading one replaces a message; what the path says is set last and so counts.
absl::Status DescriptorTranscoder::Bind(const Call& call, const HttpRequest& request, Message& message) const {
  const Binding& binding = *call.binding;
  absl::Status status = CheckLimits(request, options_);
  if (!status.ok()) return status;
  if (!request.body.empty()) {
    switch (binding.body) {
      case Binding::Body::kNone:
        status = absl::InvalidArgumentError(absl::StrCat(std::string(binding.method->full_name()), " takes no body"));
        break;
      case Binding::Body::kAll:
        status = json_.Parse(request.body, message);
        break;
      case Binding::Body::kField:
        status = json_.ParseField(request.body, *binding.body_field, message);
        break;
    }
  }
  if (status.ok()) {
    status = BindQuery(request.query, binding, *methods_[binding.rpc].fields, options_.ignore_unknown_query, message);
  }
  return status.ok() ? BindCaptures(binding, call.captures, message) : status;
}

absl::Status DescriptorTranscoder::Print(const Call& call, const Message& message, std::string& json) const {
  const auto* field = call.binding->response_field;
  return field != nullptr ? json_.PrintField(message, *field, json) : json_.Print(message, json);
}

}  // namespace cqbench::transcoding
