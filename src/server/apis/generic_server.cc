// --api generic: completion queues and byte buffers. Whatever the method, the library delivers the call unparsed. With
// --messages bytes no protobuf message is made on the way, so what is left is the cost of the RPC itself; otherwise
// they are made here, which is the way to have a serializer of one's own.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>
#include <vector>

#include "src/server/apis/call_steps.h"
#include "src/server/apis/cq_call.h"
#include "src/server/apis/cq_server.h"
#include "src/server/apis/generic_methods.h"
#include "src/server/apis/server_kinds.h"

namespace cqbench {
namespace {

struct GenericServices {
  explicit GenericServices(const ServerConfig& config)
      : serializer(config.serializer), methods(DescribeMethods(config)) {}

  const Serializer serializer;
  const std::vector<GenericMethod> methods;

  grpc::AsyncGenericService generic;
  void Register(grpc::ServerBuilder& builder) { builder.RegisterAsyncGenericService(&generic); }
  // nullptr when there is no such method.
  const GenericMethod* Find(const std::string& path) const {
    for (const GenericMethod& method : methods) {
      if (method.path == path) return &method;
    }
    return nullptr;
  }
};

class GenericCall final : public CqCall<GenericCall, CallSteps<GenericCall>> {
 public:
  explicit GenericCall(MessageStrategy messages) { call_.strategy = messages; }

  template <typename Thread>
  void Post(Thread& thread) {
    Bind<GenericCall, Thread>();
    Reset();
    state_ = State::kPosted;
    context_.emplace();
    stream_.emplace(&*context_);
    thread.services().generic.RequestCall(&*context_, &*stream_, thread.queue(), thread.queue(), Tag());
  }
  // The call has come when its headers are there.
  template <typename Thread>
  void Begin(Thread& thread) {
    arrived_ = thread.Arrival();
    thread.Accepted(this);
    call_.method = thread.services().Find(context_->method());
    if (call_.method == nullptr) return Fail({grpc::StatusCode::UNIMPLEMENTED, "no such method"});
    call_.serializer = thread.services().serializer;
    times_ = &thread.times().serializer();
    if (call_.method->begin != nullptr) call_.method->begin(call_);
    Read();
  }
  // The library's memory of a call lives as long as its context.
  void Rest() {
    stream_.reset();
    context_.reset();
    request_.Clear();
    response_.Clear();
    if (call_.method != nullptr && call_.method->rest != nullptr) call_.method->rest(call_);
  }

  Shape shape() const { return call_.method->shape; }
  void Read() {
    state_ = State::kReading;
    stream_->Read(&request_, Tag());
  }
  void Write(const grpc::WriteOptions& options) {
    state_ = State::kWriting;
    stream_->Write(response_, options, Tag());
  }
  void WriteLast() { stream_->WriteAndFinish(response_, grpc::WriteOptions(), grpc::Status::OK, LastTag()); }
  void End(const grpc::Status& status) { stream_->Finish(status, LastTag()); }

  grpc::Status Handle(uint32_t left) {
    call_.left = left;
    return Timed().method->handle(call_, request_, &response_);
  }
  grpc::Status CountResponses(uint32_t* count) { return Timed().method->count(call_, request_, count); }
  grpc::Status Take() { return Timed().method->take(call_, request_); }
  grpc::Status Respond() { return Timed().method->respond(call_, &response_); }

 private:
  GenericCallState& Timed() {
    call_.times = timed() ? times_ : nullptr;
    return call_;
  }

  GenericCallState call_;
  SerializerTimes* times_ = nullptr;
  std::optional<grpc::GenericServerContext> context_;
  std::optional<grpc::GenericServerAsyncReaderWriter> stream_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartGenericServer(const ServerConfig& config) {
  return CqServer<GenericServices, GenericCall>::Start(config);
}

}  // namespace cqbench
