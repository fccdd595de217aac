// The part of a workload that follows from the names of its two methods alone. Generated stubs and services have a
// member function per method and no other handle on it, so this is a macro: one line per workload instead of eighty.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

// Defines struct NAME for a service with a unary method UNARY and a bidirectional streaming method STREAM over the same
// messages:
// - client: Unary, Stream, PrepareUnary, PrepareStream, CallbackUnary, CallbackStream call the stub's functions;
// - server: RequestUnary and RequestStream post requests to an AsyncService; SyncService<Handlers> and
//   CallbackService<Handlers> pass calls on to handlers.Unary(…) and handlers.Stream(…).
#define CQBENCH_SERVICE_METHODS(NAME, SERVICE, REQUEST, RESPONSE, UNARY, STREAM)                                      \
  struct NAME {                                                                                                       \
    using Service = SERVICE;                                                                                          \
    using Stub = Service::Stub;                                                                                       \
    using Request = REQUEST;                                                                                          \
    using Response = RESPONSE;                                                                                        \
                                                                                                                      \
    static std::string UnaryPath() { return std::string("/") + Service::service_full_name() + "/" #UNARY; }           \
    static std::string StreamPath() { return std::string("/") + Service::service_full_name() + "/" #STREAM; }         \
                                                                                                                      \
    static grpc::Status Unary(Stub& stub, grpc::ClientContext* context, const Request& request, Response* response) { \
      return stub.UNARY(context, request, response);                                                                  \
    }                                                                                                                 \
    static auto Stream(Stub& stub, grpc::ClientContext* context) { return stub.STREAM(context); }                     \
    static auto PrepareUnary(Stub& stub, grpc::ClientContext* context, const Request& request,                        \
                             grpc::CompletionQueue* queue) {                                                          \
      return stub.PrepareAsync##UNARY(context, request, queue);                                                       \
    }                                                                                                                 \
    static auto PrepareStream(Stub& stub, grpc::ClientContext* context, grpc::CompletionQueue* queue) {               \
      return stub.PrepareAsync##STREAM(context, queue);                                                               \
    }                                                                                                                 \
    static void CallbackUnary(Stub& stub, grpc::ClientContext* context, const Request* request, Response* response,   \
                              grpc::ClientUnaryReactor* reactor) {                                                    \
      stub.async()->UNARY(context, request, response, reactor);                                                       \
    }                                                                                                                 \
    static void CallbackStream(Stub& stub, grpc::ClientContext* context,                                              \
                               grpc::ClientBidiReactor<Request, Response>* reactor) {                                 \
      stub.async()->STREAM(context, reactor);                                                                         \
    }                                                                                                                 \
                                                                                                                      \
    using AsyncService = Service::AsyncService;                                                                       \
    template <typename... Args>                                                                                       \
    static void RequestUnary(AsyncService& service, Args... args) {                                                   \
      service.Request##UNARY(args...);                                                                                \
    }                                                                                                                 \
    template <typename... Args>                                                                                       \
    static void RequestStream(AsyncService& service, Args... args) {                                                  \
      service.Request##STREAM(args...);                                                                               \
    }                                                                                                                 \
                                                                                                                      \
    template <typename Handlers>                                                                                      \
    class SyncService final : public Service::Service {                                                               \
     public:                                                                                                          \
      explicit SyncService(Handlers handlers) : handlers_(handlers) {}                                                \
      grpc::Status UNARY(grpc::ServerContext*, const Request* request, Response* response) override {                 \
        return handlers_.Unary(*request, response);                                                                   \
      }                                                                                                               \
      grpc::Status STREAM(grpc::ServerContext* context,                                                               \
                          grpc::ServerReaderWriter<Response, Request>* stream) override {                             \
        return handlers_.Stream(context, stream);                                                                     \
      }                                                                                                               \
                                                                                                                      \
     private:                                                                                                         \
      const Handlers handlers_;                                                                                       \
    };                                                                                                                \
    template <typename Handlers>                                                                                      \
    class CallbackService final : public Service::CallbackService {                                                   \
     public:                                                                                                          \
      explicit CallbackService(Handlers handlers) : handlers_(handlers) {}                                            \
      grpc::ServerUnaryReactor* UNARY(grpc::CallbackServerContext* context, const Request* request,                   \
                                      Response* response) override {                                                  \
        return handlers_.Unary(context, *request, response);                                                          \
      }                                                                                                               \
      grpc::ServerBidiReactor<Request, Response>* STREAM(grpc::CallbackServerContext*) override {                     \
        return handlers_.Stream();                                                                                    \
      }                                                                                                               \
                                                                                                                      \
     private:                                                                                                         \
      const Handlers handlers_;                                                                                       \
    };                                                                                                                \
  }
