// Shared by both backends: which function serves a method, and how responses are sent.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/support/status.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "src/http/routes/transcoder.h"
#include "src/http/server/http_server.h"
#include "src/workload/methods/methods.h"

namespace cqbench {

using transcoding::kJsonType;
inline constexpr char kJsonLinesType[] = "application/x-ndjson";

inline absl::string_view AbslView(std::string_view text) {
  return {text.data(), text.size()};
}

inline void SendError(HttpReply reply, const transcoding::HttpError& error) {
  const HttpField field{{error.header.data(), error.header.size()}, error.header_value};
  reply.Send({error.http_status, kJsonType, field}, error.json);
}
inline transcoding::HttpError ErrorOf(const transcoding::Transcoder& transcoder, const grpc::Status& status) {
  return transcoder.ErrorOf(status.error_code(), status.error_message(), status.error_details());
}
// The last line of a stream that fails after it has begun.
inline std::string ErrorLine(const transcoding::HttpError& error) {
  return "{\"error\":" + error.json + "}\n";
}

// The place of M's RPC in its service.
template <typename M>
size_t IndexOf() {
  const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
      std::string(M::Service::service_full_name()));
  return static_cast<size_t>(service->FindMethodByName(M::kRpc)->index());
}

// A function for each of the library's methods, found by a request's RPC.
template <typename Function>
class ByMethod {
 public:
  // `of.operator()<M>()` gives that of M.
  template <typename Of>
  explicit ByMethod(Of&& of) {
    LibraryMethods::ForEach([&]<typename M>() { functions_[IndexOf<M>()] = of.template operator()<M>(); });
  }
  Function operator[](const transcoding::Call& call) const {
    return functions_[static_cast<size_t>(call.rpc->method->index())];
  }

 private:
  std::array<Function, LibraryMethods::kCount> functions_{};
};

// The call as it is needed after its request has been read.
inline transcoding::Call WithoutCaptures(const transcoding::Call& call) {
  return {call.rpc, call.binding, {}};
}

}  // namespace cqbench
