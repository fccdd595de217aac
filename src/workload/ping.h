// The empty ping of YDB's DebugService, as a workload. A workload is a struct of static functions; engines and servers
// are templates over it, so a new one is a proto and a file like this, listed in workloads.h.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "cqbench/proto/ping.grpc.pb.h"
#include "cqbench/run_config.h"
#include "src/workload/wire.h"

namespace cqbench {

struct PingWorkload {
  using Service = Ydb::Debug::V1::DebugService;
  using Stub = Service::Stub;
  using Request = Ydb::Debug::V1::PlainGrpcRequest;
  using Response = Ydb::Debug::V1::PlainGrpcResponse;
  static constexpr char kUnaryMethod[] = "/Ydb.Debug.V1.DebugService/PingPlainGrpc";
  static constexpr char kStreamMethod[] = "/Ydb.Debug.V1.DebugService/PingStream";

  // --- client ---

  static Request MakeRequest(const RunConfig& /*config*/) { return {}; }
  // Any answer will do: YDB's own benchmark server leaves the time out.
  static bool IsValid(const Response& /*response*/, const RunConfig& /*config*/) { return true; }

  static grpc::Status Unary(Stub& stub, grpc::ClientContext* context, const Request& request, Response* response) {
    return stub.PingPlainGrpc(context, request, response);
  }
  static auto Stream(Stub& stub, grpc::ClientContext* context) { return stub.PingStream(context); }
  static auto PrepareUnary(Stub& stub, grpc::ClientContext* context, const Request& request,
                           grpc::CompletionQueue* cq) {
    return stub.PrepareAsyncPingPlainGrpc(context, request, cq);
  }
  static auto PrepareStream(Stub& stub, grpc::ClientContext* context, grpc::CompletionQueue* cq) {
    return stub.PrepareAsyncPingStream(context, cq);
  }
  static void CallbackUnary(Stub& stub, grpc::ClientContext* context, const Request* request, Response* response,
                            grpc::ClientUnaryReactor* reactor) {
    stub.async()->PingPlainGrpc(context, request, response, reactor);
  }
  static void CallbackStream(Stub& stub, grpc::ClientContext* context,
                             grpc::ClientBidiReactor<Request, Response>* reactor) {
    stub.async()->PingStream(context, reactor);
  }

  // --- server ---

  static uint64_t WallClockMicros() {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
  }
  static grpc::Status Handle(const Request& /*request*/, Response* response) {
    response->set_callbackts(WallClockMicros());
    return grpc::Status::OK;
  }
  static grpc::Status HandleBytes(const grpc::ByteBuffer& /*request*/, grpc::ByteBuffer* response) {
    *response = wire::VarintField(1, WallClockMicros());
    return grpc::Status::OK;
  }

  using AsyncService = Service::AsyncService;
  // Keeps the names in reflection while the calls themselves go to a generic service.
  using GenericallyServed =
      Service::WithGenericMethod_PingPlainGrpc<Service::WithGenericMethod_PingStream<Service::Service>>;
  template <typename... Args>
  static void RequestUnary(AsyncService& service, Args... args) {
    service.RequestPingPlainGrpc(args...);
  }
  template <typename... Args>
  static void RequestStream(AsyncService& service, Args... args) {
    service.RequestPingStream(args...);
  }

  template <typename Handlers>
  class SyncService final : public Service::Service {
   public:
    explicit SyncService(Handlers handlers) : handlers_(handlers) {}
    grpc::Status PingPlainGrpc(grpc::ServerContext*, const Request* request, Response* response) override {
      return handlers_.Unary(*request, response);
    }
    grpc::Status PingStream(grpc::ServerContext*, grpc::ServerReaderWriter<Response, Request>* stream) override {
      return handlers_.Stream(stream);
    }

   private:
    const Handlers handlers_;
  };
  template <typename Handlers>
  class CallbackService final : public Service::CallbackService {
   public:
    explicit CallbackService(Handlers handlers) : handlers_(handlers) {}
    grpc::ServerUnaryReactor* PingPlainGrpc(grpc::CallbackServerContext* context, const Request* request,
                                            Response* response) override {
      return handlers_.Unary(context, *request, response);
    }
    grpc::ServerBidiReactor<Request, Response>* PingStream(grpc::CallbackServerContext*) override {
      return handlers_.Stream();
    }

   private:
    const Handlers handlers_;
  };
};

}  // namespace cqbench
