#include "src/http/routes/transcoder.h"

#include <google/api/annotations.pb.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "src/http/json/field_value.h"
#include "src/http/json/json.h"
#include "src/http/json/percent.h"
#include "src/http/json/shown.h"
#include "src/http/routes/http_status.h"

namespace cqbench::transcoding {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

namespace {

constexpr char kNoCoding[] = "identity";

// RFC 6839's "+json", too. Parameters are not looked at: JSON is UTF-8, whatever a charset says (RFC 8259, 8.1 and 11).
bool IsJson(absl::string_view media_type) {
  if (media_type.empty() || media_type == kJsonType) return true;
  media_type = absl::StripAsciiWhitespace(media_type.substr(0, media_type.find(';')));
  return absl::EqualsIgnoreCase(media_type, kJsonType) ||
         (absl::StartsWithIgnoreCase(media_type, "application/") && absl::EndsWithIgnoreCase(media_type, "+json"));
}

HttpError Refused(int http_status, absl::string_view header, std::string value, absl::StatusCode code,
                  absl::string_view message) {
  HttpError error;
  error.http_status = http_status;
  error.header = header;
  error.header_value = std::move(value);
  AppendErrorJson(static_cast<int>(code), message, {}, error.json);
  return error;
}

}  // namespace

Found Transcoder::Find(const HttpRequest& request, Call& call) const {
  Found found = FindMethod(request.method, request.path, call);
  if (found == Found::kOtherMethod && request.method == "HEAD") found = FindMethod("GET", request.path, call);
  if (found != Found::kYes || request.body.empty()) return found;
  const absl::string_view coding = request.content_encoding;
  if (!coding.empty() && !absl::EqualsIgnoreCase(coding, kNoCoding)) return Found::kOtherCoding;
  return IsJson(request.content_type) ? found : Found::kOtherMedia;
}

std::string Transcoder::AllowedMethods(absl::string_view path) const {
  std::vector<absl::string_view> methods = MethodsOf(path);
  const auto has = [&](absl::string_view method) {
    return std::find(methods.begin(), methods.end(), method) != methods.end();
  };
  if (has("GET") && !has("HEAD")) methods.push_back("HEAD");
  std::sort(methods.begin(), methods.end());
  return absl::StrJoin(methods, ", ");
}

HttpError Transcoder::ErrorOf(Found found, const HttpRequest& request) const {
  switch (found) {
    case Found::kOtherMethod: {
      const std::string methods = AllowedMethods(request.path);
      return Refused(405, "Allow", methods, absl::StatusCode::kUnimplemented, absl::StrCat("this path has ", methods));
    }
    case Found::kOtherMedia:
      return Refused(415, "Accept", kJsonType, absl::StatusCode::kInvalidArgument,
                     absl::StrCat("Content-Type: '", Shown(request.content_type), "' is not ", kJsonType));
    case Found::kOtherCoding:
      return Refused(415, "Accept-Encoding", kNoCoding, absl::StatusCode::kInvalidArgument,
                     absl::StrCat("Content-Encoding: '", Shown(request.content_encoding), "' is not ", kNoCoding));
    case Found::kNoPath:
    case Found::kYes:
      break;
  }
  return Refused(404, "", "", absl::StatusCode::kNotFound, "no method has this path");
}

HttpError Transcoder::ErrorOf(int grpc_code, absl::string_view message, absl::string_view status_proto) const {
  HttpError error;
  error.http_status = HttpStatusOf(grpc_code);
  AppendErrorJson(grpc_code, message, status_proto, error.json);
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
  std::unique_ptr<DescriptorTranscoder> transcoder(new DescriptorTranscoder(options));
  for (const std::string& name : services) {
    const ServiceDescriptor* service = pool.FindServiceByName(name);
    if (service == nullptr) return absl::NotFoundError(absl::StrCat("there is no service ", name));
    for (int i = 0; i < service->method_count(); ++i) {
      transcoder->Add(*service->method(i), factory);
    }
  }
  return transcoder;
}

void DescriptorTranscoder::Add(const MethodDescriptor& method, MessageFactory& factory) {
  if (!method.options().HasExtension(google::api::http)) return;
  bool is_served = false;
  for (Binding& binding : ResolveRule(method, method.options().GetExtension(google::api::http), refused_)) {
    binding.rpc = methods_.size();
    const absl::Status added = table_.Add(std::move(binding));
    if (!added.ok()) refused_.emplace_back(added.message());
    is_served = is_served || added.ok();
  }
  if (!is_served) return;
  Rpc rpc;
  rpc.method = &method;
  rpc.path = absl::StrCat("/", std::string(method.service()->full_name()), "/", std::string(method.name()));
  rpc.request = factory.GetPrototype(method.input_type());
  rpc.response = factory.GetPrototype(method.output_type());
  methods_.push_back({std::move(rpc), &types_.Of(*method.input_type())});
}

Found DescriptorTranscoder::FindMethod(absl::string_view http_method, absl::string_view path, Call& call) const {
  const Found found = table_.Find(http_method, path, call.binding, call.captures);
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
        status = ParseJson(request.body, message);
        break;
      case Binding::Body::kField:
        status = ParseJsonField(request.body, *binding.body_field, message);
        break;
    }
  }
  if (status.ok()) {
    status = BindQuery(request.query, binding, *methods_[binding.rpc].fields, message);
  }
  return status.ok() ? BindCaptures(binding, call.captures, message) : status;
}

absl::Status DescriptorTranscoder::Print(const Call& call, const Message& message, std::string& json) const {
  const auto* field = call.binding->response_field;
  return field != nullptr ? PrintJsonField(message, *field, json) : PrintJson(message, json);
}

}  // namespace cqbench::transcoding
