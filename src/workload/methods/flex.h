// An empty message, or one with a field of nearly every kind, echoed. See method.h for what a method is.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "cqbench/proto/flex.grpc.pb.h"
#include "src/config/messages.h"
#include "src/workload/methods/method.h"

namespace cqbench {

struct FlexNormal {
  using Request = flex::FlexRequest;
  using Response = flex::FlexReply;
  static constexpr char kWorkload[] = "flex";
  static constexpr char kName[] = "normal";
  static constexpr bool kHasPayload = false;
  static constexpr bool kHasContent = true;
  CQBENCH_UNARY(flex::FlexService, NormalRPC);

  static void Fill(Request& request, const MessageConfig& config);
  static absl::string_view Check(const Response& response, const MessageConfig& config);
  static absl::string_view CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& config);

  static grpc::Status Handle(const Request& request, Response* response) {
    if (request.has_msg()) {
      *response->mutable_msg() = request.msg();
    } else {
      response->clear_msg();
    }
    return grpc::Status::OK;
  }
  // Request and reply look the same on the wire, so that the response is the very bytes that came, once they are known
  // to be a message and one in msg.
  static grpc::Status HandleBytes(const grpc::ByteBuffer& request, grpc::ByteBuffer* response);
};

}  // namespace cqbench
