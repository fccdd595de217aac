// Payloads of a chosen size in each direction, as a workload. See ping.h for what a workload is.
#pragma once

#include <string>

#include "cqbench/proto/echo.grpc.pb.h"
#include "cqbench/run_config.h"
#include "src/workload/service_methods.h"
#include "src/workload/wire.h"

namespace cqbench {

CQBENCH_SERVICE_METHODS(EchoMethods, v1::EchoService, v1::EchoRequest, v1::EchoResponse, Echo, EchoStream);

struct EchoWorkload : EchoMethods {
  static Request MakeRequest(const RunConfig& config) {
    Request request;
    request.set_response_bytes(config.response_bytes);
    request.set_payload(std::string(config.request_bytes, 'q'));
    return request;
  }
  static bool IsValid(const Response& response, const RunConfig& config) {
    return response.payload().size() == config.response_bytes;
  }

  // `response` is recycled by most servers: resizing keeps its memory.
  static grpc::Status Handle(const Request& request, Response* response) {
    if (request.response_bytes() > kMaxPayloadBytes) return TooLarge();
    response->mutable_payload()->resize(request.response_bytes(), 'r');
    return grpc::Status::OK;
  }
  static grpc::Status HandleBytes(const grpc::ByteBuffer& request, grpc::ByteBuffer* response) {
    uint64_t bytes = 0;
    if (!wire::FindVarint(request, 1, &bytes)) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "the request is not an EchoRequest"};
    }
    if (bytes > kMaxPayloadBytes) return TooLarge();
    *response = wire::BytesField(1, bytes, 'r');
    return grpc::Status::OK;
  }

 private:
  static grpc::Status TooLarge() { return {grpc::StatusCode::INVALID_ARGUMENT, "response_bytes is more than 64 MiB"}; }
};

}  // namespace cqbench
