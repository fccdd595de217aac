// How an engine reaches a method: through the generated stub, or through the generic one, which finds it by its path
// and takes messages or bytes. Both have the same functions, so an engine is written once for both.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/channel/channel_pool.h"
#include "src/client/engine_context.h"
#include "src/method/coded.h"
#include "src/method/holder.h"
#include "src/method/methods.h"

namespace cqbench {

// A stream of the generic stub that blocks, which the library has for generated stubs only. It waits as those do
// inside: on a completion queue of its own.
template <typename Request, typename Response>
class BlockingStream {
 public:
  using Stream = grpc::ClientAsyncReaderWriter<Request, Response>;
  // `stream` is not started yet and belongs to `queue`, which has no other use meanwhile.
  BlockingStream(std::unique_ptr<Stream> stream, grpc::CompletionQueue* queue)
      : queue_(queue), stream_(std::move(stream)) {
    stream_->StartCall(this);
    Wait();
  }
  bool Write(const Request& request) {
    stream_->Write(request, this);
    return Wait();
  }
  void WriteLast(const Request& request, grpc::WriteOptions options) {
    stream_->WriteLast(request, options, this);
    Wait();
  }
  bool Read(Response* response) {
    stream_->Read(response, this);
    return Wait();
  }
  bool WritesDone() {
    stream_->WritesDone(this);
    return Wait();
  }
  grpc::Status Finish() {
    grpc::Status status;
    stream_->Finish(&status, this);
    Wait();
    return status;
  }

 private:
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_->Next(&tag, &ok) && ok;
  }
  grpc::CompletionQueue* const queue_;
  const std::unique_ptr<Stream> stream_;
};

// What users of gRPC have. kShape is the method's; kStream that of the objects that Call() and Prepare() return and of
// the reactors that Start() takes.
template <Method M>
class GeneratedStub {
 public:
  using Request = typename M::Request;
  using Response = typename M::Response;
  static constexpr Shape kShape = M::kShape;
  static constexpr Shape kStream = M::kShape;

  explicit GeneratedStub(const std::shared_ptr<grpc::Channel>& channel) : stub_(M::Service::NewStub(channel)) {}

  static void Fill(Request& request, const MessageConfig& config) { M::Fill(request, config); }
  static absl::string_view Check(const Response& response, const MessageConfig& config) {
    return M::Check(response, config);
  }

  // The stub's function of the method, with its arguments by shape: blocking; on a completion queue, to be started;
  // with a reactor.
  template <typename... Args>
  auto Call(Args&&... args) {
    return ((*stub_).*M::kCall)(std::forward<Args>(args)...);
  }
  template <typename... Args>
  auto Prepare(Args&&... args) {
    return ((*stub_).*M::kPrepare)(std::forward<Args>(args)...);
  }
  template <typename... Args>
  void Start(Args&&... args) {
    (stub_->async()->*M::kStart)(std::forward<Args>(args)...);
  }

 private:
  const std::unique_ptr<typename M::Service::Stub> stub_;
};

// With M's own messages, coded, or with grpc::ByteBuffer for both. Every stream is bidirectional here: the wire does
// not know the difference.
template <Method M, typename Req, typename Resp>
class GenericStub {
 public:
  using Request = Req;
  using Response = Resp;
  static constexpr Shape kShape = M::kShape;
  static constexpr Shape kStream = M::kShape == Shape::kUnary ? Shape::kUnary : Shape::kBidi;

  explicit GenericStub(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {}

  // Bytes are those of the message as protobuf writes it.
  static void Fill(Request& request, const MessageConfig& config) {
    if constexpr (std::is_same_v<Request, grpc::ByteBuffer>) {
      typename M::Request message;
      M::Fill(message, config);
      const grpc::Slice slice(message.SerializeAsString());
      request = grpc::ByteBuffer(&slice, 1);
    } else {
      M::Fill(*request.message, config);
    }
  }
  static absl::string_view Check(const Response& response, const MessageConfig& config) {
    if constexpr (std::is_same_v<Response, grpc::ByteBuffer>) {
      return M::CheckBytes(response, config);
    } else {
      return M::Check(*response.message, config);
    }
  }

  grpc::Status Call(grpc::ClientContext* context, const Request& request, Response* response) {
    grpc::Status status;
    const auto call = Prepare(context, request, BlockingQueue());
    call->StartCall();
    call->Finish(response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    BlockingQueue()->Next(&tag, &ok);
    return status;
  }
  auto Call(grpc::ClientContext* context) {
    return std::make_unique<BlockingStream<Request, Response>>(Prepare(context, BlockingQueue()), BlockingQueue());
  }
  auto Prepare(grpc::ClientContext* context, const Request& request, grpc::CompletionQueue* queue) {
    return stub_.PrepareUnaryCall(context, path_, request, queue);
  }
  auto Prepare(grpc::ClientContext* context, grpc::CompletionQueue* queue) {
    return stub_.PrepareCall(context, path_, queue);
  }
  void Start(grpc::ClientContext* context, const Request* request, Response* response,
             grpc::ClientUnaryReactor* reactor) {
    stub_.PrepareUnaryCall(context, path_, grpc::StubOptions(), request, response, reactor);
  }
  void Start(grpc::ClientContext* context, grpc::ClientBidiReactor<Request, Response>* reactor) {
    stub_.PrepareBidiStreamingCall(context, path_, grpc::StubOptions(), reactor);
  }

 private:
  static grpc::CompletionQueue* BlockingQueue() {
    thread_local grpc::CompletionQueue queue;
    return &queue;
  }
  grpc::TemplatedGenericStub<Request, Response> stub_;
  const std::string path_ = PathOf<M>();
};

// The engine for the kind of stub that the run is to use. Its method is of one of these shapes: the others are not
// compiled.
template <template <typename Stub> typename EngineOf, Shape... kShapes>
std::unique_ptr<Engine> MakeForStub(const EngineContext& context) {
  return AllMethods::With(context.config.method.id, [&]<typename M>() -> std::unique_ptr<Engine> {
    if constexpr (((M::kShape == kShapes) || ...)) {
      if (context.config.messages == MessageHolder::kBytes) {
        return std::make_unique<EngineOf<GenericStub<M, grpc::ByteBuffer, grpc::ByteBuffer>>>(context);
      }
      if (context.config.stub == StubKind::kGeneric) {
        return std::make_unique<EngineOf<GenericStub<M, Coded<typename M::Request>, Coded<typename M::Response>>>>(
            context);
      }
      return std::make_unique<EngineOf<GeneratedStub<M>>>(context);
    } else {
      return nullptr;
    }
  });
}

// A stub per channel; slot i talks through the stub of channel i modulo the number of channels.
template <typename Stub>
class Stubs {
 public:
  explicit Stubs(const ChannelPool& pool) {
    for (int i = 0; i < pool.size(); ++i) stubs_.push_back(std::make_unique<Stub>(pool[i]));
  }
  Stub* ForSlot(int slot) { return stubs_[static_cast<size_t>(slot) % stubs_.size()].get(); }
  int size() const { return static_cast<int>(stubs_.size()); }

 private:
  std::vector<std::unique_ptr<Stub>> stubs_;
};

// The requests of one thread, as the holder says. What is used again is filled once.
template <typename Stub>
class Requests {
 public:
  // `config` must outlive it.
  explicit Requests(const RunConfig& config) : config_(config.message), holder_(config.messages, config.codec) {
    Stub::Fill(holder_.Current(), config_);
  }
  const typename Stub::Request& Next() {
    typename Stub::Request& request = holder_.Next();
    if (!holder_.keeps()) [[unlikely]]
      Stub::Fill(request, config_);
    return request;
  }

 private:
  const MessageConfig& config_;
  Holder<typename Stub::Request> holder_;
};

}  // namespace cqbench
