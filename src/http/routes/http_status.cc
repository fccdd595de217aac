#include "src/http/routes/http_status.h"

#include <google/rpc/status.pb.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/http/json/json.h"

namespace cqbench::transcoding {
namespace {

constexpr int kHttpStatus[] = {
    200,  // OK
    499,  // CANCELLED: the client went away; not of HTTP itself
    500,  // UNKNOWN
    400,  // INVALID_ARGUMENT
    504,  // DEADLINE_EXCEEDED
    404,  // NOT_FOUND
    409,  // ALREADY_EXISTS
    403,  // PERMISSION_DENIED
    429,  // RESOURCE_EXHAUSTED
    400,  // FAILED_PRECONDITION
    409,  // ABORTED
    400,  // OUT_OF_RANGE
    501,  // UNIMPLEMENTED
    500,  // INTERNAL
    503,  // UNAVAILABLE
    500,  // DATA_LOSS
    401,  // UNAUTHENTICATED
};
constexpr int kCodes = sizeof(kHttpStatus) / sizeof(kHttpStatus[0]);

void AppendDetail(const google::protobuf::Any& detail, std::string& text) {
  const size_t begin = text.size();
  if (PrintJson(detail, text).ok()) return;
  text.resize(begin);
  text += "{\"@type\":";
  AppendJsonString(detail.type_url(), text);
  absl::StrAppend(&text, ",\"value\":\"", absl::Base64Escape(std::string(detail.value())), "\"}");
}

}  // namespace

int HttpStatusOf(int grpc_code) {
  return grpc_code >= 0 && grpc_code < kCodes ? kHttpStatus[grpc_code] : 500;
}

int CodeOfRefusal(int http_status) {
  switch (http_status) {
    case 408:
      return static_cast<int>(absl::StatusCode::kDeadlineExceeded);
    case 500:
      return static_cast<int>(absl::StatusCode::kInternal);
    case 501:
      return static_cast<int>(absl::StatusCode::kUnimplemented);
    default:  // 400, 413, 414, 417, 421, 431: what was sent
      return static_cast<int>(absl::StatusCode::kInvalidArgument);
  }
}

void AppendErrorJson(int grpc_code, absl::string_view message, absl::string_view status_proto, std::string& text) {
  absl::StrAppend(&text, "{\"code\":", grpc_code, ",\"message\":");
  AppendJsonString(message, text);
  text += ",\"details\":[";
  google::rpc::Status status;
  if (status.ParseFromArray(status_proto.data(), static_cast<int>(status_proto.size()))) {
    for (int i = 0; i < status.details_size(); ++i) {
      if (i > 0) text.push_back(',');
      AppendDetail(status.details(i), text);
    }
  }
  text += "]}";
}

}  // namespace cqbench::transcoding
