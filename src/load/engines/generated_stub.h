// The calls of a generated stub.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/sync_stream.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "src/load/pacing/engine_context.h"
#include "src/workload/messages/received.h"
#include "src/workload/methods/method.h"

namespace cqbench {

// The same calls as users of generated code make. In generated code, each function of a stub calls a template of the
// library with the method, which the channel knows, and its messages. These functions differ only in the type of the
// response: with a bare message, which is all that generated code takes, the arrival of a response could not be
// detected.
//
// kShape is the method's; kStream that of the objects that Call() and Prepare() return and of the reactors that Start()
// takes.
template <Method M>
class GeneratedStub {
 public:
  using Request = typename M::Request;
  using Response = Received<typename M::Response>;
  static constexpr Shape kShape = M::kShape;
  static constexpr Shape kStream = M::kShape;

  explicit GeneratedStub(const std::shared_ptr<grpc::Channel>& channel)
      : channel_(channel), path_(PathOf<M>()), method_(path_.c_str(), kType, channel_) {}
  GeneratedStub(const std::shared_ptr<grpc::Channel>& channel, const EngineContext& /*context*/)
      : GeneratedStub(channel) {}

  // The arguments that the supplies of requests and responses are made from.
  static MessageStrategy RequestsFrom(const RunConfig& config) { return config.messages; }
  static MessageStrategy ResponsesFrom(const RunConfig& config) { return config.messages; }
  static void Fill(Request& request, const MessageConfig& config) { M::Fill(request, config); }
  static absl::string_view Check(const typename M::Response& response, const MessageConfig& config) {
    return M::Check(response, config);
  }

  // Blocking.
  grpc::Status Call(grpc::ClientContext* context, const Request& request, Response* response) {
    return grpc::internal::BlockingUnaryCall<Request, Response, Lite, Response>(channel_.get(), method_, context,
                                                                                request, response);
  }
  auto Call(grpc::ClientContext* context, Response* response) {
    return std::unique_ptr<grpc::ClientWriter<Request>>(
        grpc::internal::ClientWriterFactory<Request>::Create(channel_.get(), method_, context, response));
  }
  auto Call(grpc::ClientContext* context, const Request& request) {
    return std::unique_ptr<grpc::ClientReader<Response>>(
        grpc::internal::ClientReaderFactory<Response>::Create(channel_.get(), method_, context, request));
  }
  auto Call(grpc::ClientContext* context) {
    return std::unique_ptr<grpc::ClientReaderWriter<Request, Response>>(
        grpc::internal::ClientReaderWriterFactory<Request, Response>::Create(channel_.get(), method_, context));
  }

  // On a completion queue, to be started. Not inlined, as generated code, which is in a file of its own, is not.
  [[gnu::noinline]] auto Prepare(grpc::ClientContext* context, const Request& request, grpc::CompletionQueue* queue)  //
      requires(kShape == Shape::kUnary) {
    return std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>(
        grpc::internal::ClientAsyncResponseReaderHelper::Create<Response, Request, Response, Lite>(
            channel_.get(), queue, method_, context, request));
  }
  auto Prepare(grpc::ClientContext* context, Response* response, grpc::CompletionQueue* queue) {
    return std::unique_ptr<grpc::ClientAsyncWriter<Request>>(grpc::internal::ClientAsyncWriterFactory<Request>::Create(
        channel_.get(), queue, method_, context, response, /*start=*/false, /*tag=*/nullptr));
  }
  auto Prepare(grpc::ClientContext* context, const Request& request, grpc::CompletionQueue* queue)  //
      requires(kShape == Shape::kServerStreaming) {
    return std::unique_ptr<grpc::ClientAsyncReader<Response>>(
        grpc::internal::ClientAsyncReaderFactory<Response>::Create(channel_.get(), queue, method_, context, request,
                                                                   /*start=*/false, /*tag=*/nullptr));
  }
  auto Prepare(grpc::ClientContext* context, grpc::CompletionQueue* queue) {
    return std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>>(
        grpc::internal::ClientAsyncReaderWriterFactory<Request, Response>::Create(
            channel_.get(), queue, method_, context, /*start=*/false, /*tag=*/nullptr));
  }

  // With a reactor, to be started.
  void Start(grpc::ClientContext* context, const Request* request, Response* response,
             grpc::ClientUnaryReactor* reactor) {
    grpc::internal::ClientCallbackUnaryFactory::Create<Lite, Response>(channel_.get(), method_, context, request,
                                                                       response, reactor);
  }
  void Start(grpc::ClientContext* context, Response* response, grpc::ClientWriteReactor<Request>* reactor) {
    grpc::internal::ClientCallbackWriterFactory<Request>::Create(channel_.get(), method_, context, response, reactor);
  }
  void Start(grpc::ClientContext* context, const Request* request, grpc::ClientReadReactor<Response>* reactor) {
    grpc::internal::ClientCallbackReaderFactory<Response>::Create(channel_.get(), method_, context, request, reactor);
  }
  void Start(grpc::ClientContext* context, grpc::ClientBidiReactor<Request, Response>* reactor) {
    grpc::internal::ClientCallbackReaderWriterFactory<Request, Response>::Create(channel_.get(), method_, context,
                                                                                 reactor);
  }

 private:
  using Lite = google::protobuf::MessageLite;  // generated code shares the functions of all unary requests so
  static constexpr auto kType = kShape == Shape::kUnary             ? grpc::internal::RpcMethod::NORMAL_RPC
                                : kShape == Shape::kClientStreaming ? grpc::internal::RpcMethod::CLIENT_STREAMING
                                : kShape == Shape::kServerStreaming ? grpc::internal::RpcMethod::SERVER_STREAMING
                                                                    : grpc::internal::RpcMethod::BIDI_STREAMING;

  const std::shared_ptr<grpc::ChannelInterface> channel_;
  const std::string path_;
  const grpc::internal::RpcMethod method_;
};

}  // namespace cqbench
