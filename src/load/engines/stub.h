// How an engine reaches a method: through the generated stub, or through the generic one, which finds it by its path
// and takes messages or bytes. All have the same functions, so an engine is written once for all of them.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/hash.h"
#include "src/channel/channel_pool.h"
#include "src/load/engines/generated_stub.h"
#include "src/load/pacing/engine_context.h"
#include "src/workload/messages/message_supply.h"
#include "src/workload/messages/received.h"
#include "src/workload/messages/with_serializer.h"
#include "src/workload/methods/bytes_method.h"
#include "src/workload/methods/message_method.h"
#include "src/workload/methods/methods.h"

namespace cqbench {

// A stream of the generic stub that blocks, which the library has for generated stubs only. It waits as those do
// inside: on a completion queue of its own.
template <typename Request, typename Response>
class BlockingStream {
 public:
  using Stream = grpc::ClientAsyncReaderWriter<Request, Response>;
  // `stream` is not started yet and belongs to `queue`, which has no other use meanwhile. Corked: its context says that
  // the headers wait for the first message, and then nothing tells that the call has started.
  BlockingStream(std::unique_ptr<Stream> stream, grpc::CompletionQueue* queue, bool corked)
      : queue_(queue), stream_(std::move(stream)) {
    stream_->StartCall(this);
    if (!corked) Wait();
  }
  bool Write(const Request& request, grpc::WriteOptions options = grpc::WriteOptions()) {
    stream_->Write(request, options, this);
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

// The functions of the library's generic stub, by path. Every stream is bidirectional here: on the wire there is no
// difference.
template <Shape kOf, typename Req, typename Resp>
class CallsByPath {
 public:
  using Request = Req;
  using Response = Resp;
  static constexpr Shape kShape = kOf;
  static constexpr Shape kStream = kOf == Shape::kUnary ? Shape::kUnary : Shape::kBidi;

  CallsByPath(const std::shared_ptr<grpc::Channel>& channel, std::string path)
      : stub_(channel), path_(std::move(path)) {}

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
  auto Call(grpc::ClientContext* context, bool corked = false) {
    return std::make_unique<BlockingStream<Request, Response>>(Prepare(context, BlockingQueue()), BlockingQueue(),
                                                               corked);
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
  const std::string path_;
};

// With protobuf messages, whose types only the method's record knows: one class for all methods of a shape.
template <Shape kOf>
class GenericStub : public CallsByPath<kOf, WithSerializer, Received<WithSerializer>> {
 public:
  GenericStub(const std::shared_ptr<grpc::Channel>& channel, const EngineContext& context)
      : GenericStub::CallsByPath(channel, context.config.method.path), method_(MethodOf(context.config)) {}

  static ErasedMessages RequestsFrom(const RunConfig& config) { return MethodOf(config).requests(config); }
  static ErasedMessages ResponsesFrom(const RunConfig& config) { return MethodOf(config).responses(config); }
  static void Fill(WithSerializer& /*request*/, const MessageConfig& /*config*/) {}  // its supply does
  absl::string_view Check(const WithSerializer& response, const MessageConfig& config) const {
    return method_.check(*response.message, config);
  }

 private:
  static MessageMethod MethodOf(const RunConfig& config) { return MessageMethodOf(config.method.id); }
  const MessageMethod method_;
};

// With bytes, of a method that is known when the program runs: one class for all methods of a shape.
template <Shape kOf>
class BytesStub : public CallsByPath<kOf, grpc::ByteBuffer, Received<grpc::ByteBuffer>> {
 public:
  BytesStub(const std::shared_ptr<grpc::Channel>& channel, const EngineContext& context)
      : BytesStub::CallsByPath(channel, context.bytes->path), method_(context.bytes) {}

  static MessageStrategy ResponsesFrom(const RunConfig& config) { return config.messages; }
  absl::string_view Check(const grpc::ByteBuffer& response, const MessageConfig& /*config*/) const {
    return method_->checker == nullptr ? absl::string_view() : method_->checker->Check(response);
  }

 private:
  const std::shared_ptr<const BytesMethod> method_;
};

// Returns the defect of the response of a call that ended with status OK; empty if it is right.
template <typename Stub>
absl::string_view CheckResponse(const Stub& stub, const typename Stub::Response& response,
                                const MessageConfig& config) {
  if (response.arrival != Arrival::kMessage) [[unlikely]]
    return DescribeMissing(response.arrival);
  return stub.Check(*response.message, config);
}

// The engine for the kind of stub that the run is to use. Its method is of one of these shapes: the others are not
// compiled.
template <template <typename Stub> typename EngineOf, Shape... kShapes>
std::unique_ptr<Engine> MakeForStub(const EngineContext& context) {
  const RunConfig& config = context.config;
  if (context.bytes != nullptr || config.stub == StubKind::kGeneric) {
    std::unique_ptr<Engine> engine;
    const auto make = [&]<Shape kShape>() {
      if (config.method.shape != kShape) return;
      if (context.bytes != nullptr) {
        engine = std::make_unique<EngineOf<BytesStub<kShape>>>(context);
      } else {
        engine = std::make_unique<EngineOf<GenericStub<kShape>>>(context);
      }
    };
    (make.template operator()<kShapes>(), ...);
    return engine;
  }
  return AllMethods::With(config.method.id, [&]<typename M>() -> std::unique_ptr<Engine> {
    if constexpr (((M::kShape == kShapes) || ...)) return std::make_unique<EngineOf<GeneratedStub<M>>>(context);
    return nullptr;
  });
}

// A stub per channel. Slots are dealt to channels in turn.
template <typename Stub>
class Stubs {
 public:
  explicit Stubs(const EngineContext& context) {
    const ChannelPool& channels = *context.channels;
    for (int i = 0; i < channels.size(); ++i) stubs_.push_back(std::make_unique<Stub>(channels[i], context));
  }
  int ChannelOf(int slot) const { return slot % size(); }
  Stub* ForSlot(int slot) { return stubs_[static_cast<size_t>(ChannelOf(slot))].get(); }
  int size() const { return static_cast<int>(stubs_.size()); }

 private:
  std::vector<std::unique_ptr<Stub>> stubs_;
};

// The requests of one thread, as the supply says. What is used again is filled once.
template <typename Stub>
class Requests {
 public:
  // `config` must outlive it. `index`: of the thread (of the slot, where each slot has its own).
  Requests(const RunConfig& config, const BytesMethod* /*bytes*/, int /*index*/)
      : config_(config.message), supply_(Stub::RequestsFrom(config)) {
    Stub::Fill(supply_.Current(), config_);
  }
  const typename Stub::Request& Next() {
    typename Stub::Request& request = supply_.Next();
    if (!supply_.keeps()) [[unlikely]]
      Stub::Fill(request, config_);
    return request;
  }
  // The message of that place, from 0, in a client-streaming call.
  const typename Stub::Request& Next(int /*place*/) { return Next(); }

 private:
  const MessageConfig& config_;
  MessageSupply<typename Stub::Request> supply_;
};

// Takes bytes that were made beforehand. Threads begin at different places, so that a few calls on many threads send
// all of them, too.
template <Shape kOf>
class Requests<BytesStub<kOf>> {
 public:
  // `bytes` must outlive it.
  Requests(const RunConfig& /*config*/, const BytesMethod* bytes, int index)
      : requests_(bytes->requests.data()),
        count_(bytes->requests.size()),
        draws_(bytes->order == DataOrder::kRandom),
        at_(static_cast<size_t>(index) % count_),
        random_(bytes->seed ^ static_cast<uint64_t>(index) << 32) {}

  const grpc::ByteBuffer& Next() {
    if (count_ == 1) return *requests_;
    if (draws_) return Draw();
    const grpc::ByteBuffer& request = requests_[at_];
    if (++at_ == count_) at_ = 0;
    return request;
  }
  const grpc::ByteBuffer& Next(int place) { return draws_ ? Draw() : requests_[static_cast<size_t>(place) % count_]; }

 private:
  const grpc::ByteBuffer& Draw() { return requests_[random_() % count_]; }

  const grpc::ByteBuffer* const requests_;
  const size_t count_;
  const bool draws_;
  size_t at_;
  SplitMix64 random_;  // eight bytes, as there may be a hundred thousand of these
};

}  // namespace cqbench
