// --api generic: completion queues and byte buffers. Whatever the method, the library delivers the call unparsed. With
// --messages bytes no protobuf message is made on the way, so what is left is the cost of the RPC itself; otherwise
// they are made here, which is the way to have a serializer of one's own.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

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

class GenericCall : public ServerEvent {
 public:
  explicit GenericCall(MessageStrategy messages) { call_.strategy = messages; }

  template <typename Thread>
  void Post(Thread& thread) {
    Bind<GenericCall, Thread>();
    state_ = State::kPosted;
    good_ = true;
    handled_at_ = 0;
    context_.emplace();
    stream_.emplace(&*context_);
    thread.services().generic.RequestCall(&*context_, &*stream_, thread.queue(), thread.queue(), Tag());
  }

  template <typename Thread>
  void Step(Thread& thread, bool ok) {
    if (is_last()) {
      thread.times().Finished(handled_at_);
      Rest();
      return thread.Ended(this, ok && good_);
    }
    switch (state_) {
      case State::kPosted:
        if (!ok) return;  // shutting down, no request came
        return Begin(thread);
      case State::kReading:
        return ok ? Take(thread) : RequestsEnded(thread);
      case State::kWriting:
        thread.times().Finished(std::exchange(handled_at_, 0));
        return ok ? Written(thread) : Fail(grpc::Status::OK);
    }
  }

 private:
  enum class State { kPosted, kReading, kWriting };

  template <typename Thread>
  void Begin(Thread& thread) {
    arrived_ = thread.Arrival();
    thread.Accepted(this);
    call_.method = thread.services().Find(context_->method());
    if (call_.method == nullptr) return Fail({grpc::StatusCode::UNIMPLEMENTED, "no such method"});
    call_.left = 0;
    call_.serializer = thread.services().serializer;
    if (call_.method->begin != nullptr) call_.method->begin(call_);
    Read();
  }

  // A request has come.
  template <typename Thread>
  void Take(Thread& thread) {
    switch (call_.method->shape) {
      case Shape::kUnary:
        return Respond(thread, arrived_, /*last=*/true);  // the call came when its headers were there
      case Shape::kBidi:
        return Respond(thread, thread.Arrival(), /*last=*/false);
      case Shape::kClientStreaming: {
        call_.times = nullptr;
        const grpc::Status status = call_.method->take(call_, request_);
        thread.Spend();
        return status.ok() ? Read() : Fail(status);
      }
      case Shape::kServerStreaming: {
        call_.times = arrived_ != 0 ? &thread.times().serializer() : nullptr;
        const grpc::Status status = call_.method->count(call_, request_, &call_.left);
        return status.ok() ? RespondNext(thread, arrived_) : Fail(status);
      }
    }
  }

  // The client will send no more, or has gone.
  template <typename Thread>
  void RequestsEnded(Thread& thread) {
    if (call_.method->shape == Shape::kBidi) return Finish(grpc::Status::OK);
    if (call_.method->shape != Shape::kClientStreaming) {
      return Fail({grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"});
    }
    const Nanos arrived = thread.Arrival();
    call_.times = arrived != 0 ? &thread.times().serializer() : nullptr;
    const grpc::Status status = call_.method->respond(call_, &response_);
    return status.ok() ? Send(thread, arrived, /*last=*/true) : Fail(status);
  }

  // A response is on its way that was not the last one.
  template <typename Thread>
  void Written(Thread& thread) {
    return call_.method->shape == Shape::kServerStreaming ? RespondNext(thread, thread.Arrival()) : Read();
  }
  template <typename Thread>
  void RespondNext(Thread& thread, Nanos arrived) {
    if (call_.left == 0) return Finish(grpc::Status::OK);
    --call_.left;
    Respond(thread, arrived, call_.left == 0);
  }
  template <typename Thread>
  void Respond(Thread& thread, Nanos arrived, bool last) {
    call_.times = arrived != 0 ? &thread.times().serializer() : nullptr;
    const grpc::Status status = call_.method->handle(call_, request_, &response_);
    thread.Spend();
    return status.ok() ? Send(thread, arrived, last) : Fail(status);
  }

  template <typename Thread>
  void Send(Thread& thread, Nanos arrived, bool last) {
    thread.Responded();
    handled_at_ = thread.times().Handled(arrived);
    const bool first = std::exchange(state_, State::kWriting) != State::kWriting;
    // In a ping-pong nothing follows that could go with it.
    const bool more = call_.method->shape == Shape::kServerStreaming;
    if (!last) return stream_->Write(response_, more ? thread.write_options(first) : grpc::WriteOptions(), Tag());
    stream_->WriteAndFinish(response_, grpc::WriteOptions(), grpc::Status::OK, LastTag());
  }
  void Read() {
    state_ = State::kReading;
    stream_->Read(&request_, Tag());
  }
  void Fail(const grpc::Status& status) {
    good_ = false;
    Finish(status);
  }
  void Finish(const grpc::Status& status) { stream_->Finish(status, LastTag()); }
  // Idle objects keep nothing of a call: the library's memory of it lives as long as its context.
  void Rest() {
    stream_.reset();
    context_.reset();
    request_.Clear();
    response_.Clear();
    if (call_.method != nullptr && call_.method->rest != nullptr) call_.method->rest(call_);
  }

  State state_ = State::kPosted;
  bool good_ = true;
  Nanos arrived_ = 0;  // 0: this call is not timed
  Nanos handled_at_ = 0;
  GenericCallState call_;
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
