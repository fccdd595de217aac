// Payloads of a chosen size in each direction, as a workload. See ping.h for what a workload is.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "cqbench/proto/echo.grpc.pb.h"
#include "cqbench/run_config.h"
#include "src/workload/wire.h"

namespace cqbench {

struct EchoWorkload {
  using Service = v1::EchoService;
  using Stub = Service::Stub;
  using Request = v1::EchoRequest;
  using Response = v1::EchoResponse;
  static constexpr char kUnaryMethod[] = "/cqbench.v1.EchoService/Echo";
  static constexpr char kStreamMethod[] = "/cqbench.v1.EchoService/EchoStream";

  // --- client ---

  static Request MakeRequest(const RunConfig& config) {
    Request request;
    request.set_response_bytes(config.response_bytes);
    request.set_payload(std::string(config.request_bytes, 'q'));
    return request;
  }
  static bool IsValid(const Response& response, const RunConfig& config) {
    return response.payload().size() == config.response_bytes;
  }

  static grpc::Status Unary(Stub& stub, grpc::ClientContext* context, const Request& request, Response* response) {
    return stub.Echo(context, request, response);
  }
  static auto Stream(Stub& stub, grpc::ClientContext* context) { return stub.EchoStream(context); }
  static auto PrepareUnary(Stub& stub, grpc::ClientContext* context, const Request& request,
                           grpc::CompletionQueue* cq) {
    return stub.PrepareAsyncEcho(context, request, cq);
  }
  static auto PrepareStream(Stub& stub, grpc::ClientContext* context, grpc::CompletionQueue* cq) {
    return stub.PrepareAsyncEchoStream(context, cq);
  }
  static void CallbackUnary(Stub& stub, grpc::ClientContext* context, const Request* request, Response* response,
                            grpc::ClientUnaryReactor* reactor) {
    stub.async()->Echo(context, request, response, reactor);
  }
  static void CallbackStream(Stub& stub, grpc::ClientContext* context,
                             grpc::ClientBidiReactor<Request, Response>* reactor) {
    stub.async()->EchoStream(context, reactor);
  }

  // --- server ---

  static grpc::Status TooLarge() { return {grpc::StatusCode::INVALID_ARGUMENT, "response_bytes is more than 64 MiB"}; }
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

  using AsyncService = Service::AsyncService;
  using GenericallyServed = Service::WithGenericMethod_Echo<Service::WithGenericMethod_EchoStream<Service::Service>>;
  template <typename... Args>
  static void RequestUnary(AsyncService& service, Args... args) {
    service.RequestEcho(args...);
  }
  template <typename... Args>
  static void RequestStream(AsyncService& service, Args... args) {
    service.RequestEchoStream(args...);
  }

  template <typename Handlers>
  class SyncService final : public Service::Service {
   public:
    explicit SyncService(Handlers handlers) : handlers_(handlers) {}
    grpc::Status Echo(grpc::ServerContext*, const Request* request, Response* response) override {
      return handlers_.Unary(*request, response);
    }
    grpc::Status EchoStream(grpc::ServerContext*, grpc::ServerReaderWriter<Response, Request>* stream) override {
      return handlers_.Stream(stream);
    }

   private:
    const Handlers handlers_;
  };
  template <typename Handlers>
  class CallbackService final : public Service::CallbackService {
   public:
    explicit CallbackService(Handlers handlers) : handlers_(handlers) {}
    grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context, const Request* request,
                                   Response* response) override {
      return handlers_.Unary(context, *request, response);
    }
    grpc::ServerBidiReactor<Request, Response>* EchoStream(grpc::CallbackServerContext*) override {
      return handlers_.Stream();
    }

   private:
    const Handlers handlers_;
  };
};

}  // namespace cqbench
