// --api cq: completion queues and generated messages, the server of the source post.

#include <grpcpp/grpcpp.h>

#include <optional>
#include <tuple>
#include <utility>

#include "src/server/apis/cq_server.h"
#include "src/server/apis/server_kinds.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench {
namespace {

template <typename List>
struct AsyncServices;
template <typename... Services>
struct AsyncServices<TypeList<Services...>> {
  explicit AsyncServices(const ServerConfig& /*config*/) {}
  std::tuple<typename Services::AsyncService...> all;

  void Register(grpc::ServerBuilder& builder) { (builder.RegisterService(&For<Services>()), ...); }
  template <typename Service>
  typename Service::AsyncService& For() {
    return std::get<typename Service::AsyncService>(all);
  }
};

// What calls of all shapes have in common. `Stream` is the library's object that reads and writes. A context cannot be
// used twice, and the stream is bound to it.
template <typename M, typename Stream>
class TypedCall : public ServerEvent {
 protected:
  explicit TypedCall(MessageStrategy messages) : request_(messages), response_(messages) {}

  // Requests one call. `request` is where its request goes, for shapes that have exactly one.
  template <typename Call, typename Thread, typename... OneOrNone>
  void Request(Thread& thread, OneOrNone*... request) {
    this->template Bind<Call, Thread>();
    good_ = true;
    handled_at_ = 0;
    context_.emplace();
    stream_.emplace(&*context_);
    auto& service = thread.services().template For<typename M::Service>();
    (service.*M::kPost)(&*context_, request..., &*stream_, thread.queue(), thread.queue(), Tag());
  }
  // Idle objects keep nothing of a call: the library's memory of it lives as long as its context.
  void Rest() {
    stream_.reset();
    context_.reset();
    request_.Rest();
    response_.Rest();
  }
  template <typename Call, typename Thread>
  static void End(Call* call, Thread& thread, bool ok) {
    thread.times().Finished(call->handled_at_);
    call->Rest();
    thread.Ended(call, ok && call->good_);
  }

  bool good_ = true;
  Nanos handled_at_ = 0;  // 0: the response under way is not timed
  std::optional<grpc::ServerContext> context_;
  std::optional<Stream> stream_;
  MessageSupply<typename M::Request> request_;
  MessageSupply<typename M::Response> response_;
};

template <typename M>
class UnaryCall : public TypedCall<M, grpc::ServerAsyncResponseWriter<typename M::Response>> {
 public:
  explicit UnaryCall(MessageStrategy messages) : UnaryCall::TypedCall(messages) {}

  template <typename Thread>
  void Post(Thread& thread) {
    this->template Request<UnaryCall>(thread, &this->request_.Next());
  }

  template <typename Thread>
  void Step(Thread& thread, bool ok) {
    if (this->is_last()) return this->End(this, thread, ok);
    if (!ok) return;  // shutting down, no request came
    const Nanos arrived = thread.Arrival();
    thread.Accepted(this);
    typename M::Response& response = this->response_.Next();
    const grpc::Status status = M::Handle(this->request_.Current(), &response);
    thread.Spend();
    this->good_ = status.ok();
    this->handled_at_ = thread.times().Handled(arrived);
    if (!this->good_) return this->stream_->FinishWithError(status, this->LastTag());
    thread.Responded();
    this->stream_->Finish(response, status, this->LastTag());
  }
};

// Client-streaming. A read that fails is the end of the requests or of the connection.
template <typename M>
class UploadCall : public TypedCall<M, grpc::ServerAsyncReader<typename M::Response, typename M::Request>> {
 public:
  explicit UploadCall(MessageStrategy messages) : UploadCall::TypedCall(messages) {}

  template <typename Thread>
  void Post(Thread& thread) {
    state_ = State::kPosted;
    gathered_ = {};
    this->template Request<UploadCall>(thread);
  }

  template <typename Thread>
  void Step(Thread& thread, bool ok) {
    if (this->is_last()) return this->End(this, thread, ok);
    switch (state_) {
      case State::kPosted:
        if (!ok) return;  // shutting down, no request came
        thread.Accepted(this);
        return Read();
      case State::kReading:
        return ok ? Take(thread) : Respond(thread);
    }
  }

 private:
  enum class State { kPosted, kReading };

  void Read() {
    state_ = State::kReading;
    this->stream_->Read(&this->request_.Next(), this->Tag());
  }
  template <typename Thread>
  void Take(Thread& thread) {
    const grpc::Status status = M::Take(this->request_.Current(), gathered_);
    thread.Spend();
    return status.ok() ? Read() : Fail(status);
  }
  template <typename Thread>
  void Respond(Thread& thread) {
    const Nanos arrived = thread.Arrival();
    typename M::Response& response = this->response_.Next();
    const grpc::Status status = M::Respond(gathered_, &response);
    if (!status.ok()) return Fail(status);
    thread.Responded();
    this->handled_at_ = thread.times().Handled(arrived);
    this->stream_->Finish(response, status, this->LastTag());
  }
  void Fail(const grpc::Status& status) {
    this->good_ = false;
    this->stream_->FinishWithError(status, this->LastTag());
  }

  State state_ = State::kPosted;
  typename M::Gathered gathered_{};
};

// Server-streaming.
template <typename M>
class DownloadCall : public TypedCall<M, grpc::ServerAsyncWriter<typename M::Response>> {
 public:
  explicit DownloadCall(MessageStrategy messages) : DownloadCall::TypedCall(messages) {}

  template <typename Thread>
  void Post(Thread& thread) {
    state_ = State::kPosted;
    this->template Request<DownloadCall>(thread, &this->request_.Next());
  }

  template <typename Thread>
  void Step(Thread& thread, bool ok) {
    if (this->is_last()) return this->End(this, thread, ok);
    switch (state_) {
      case State::kPosted:
        if (!ok) return;  // shutting down, no request came
        return Begin(thread);
      case State::kWriting:
        thread.times().Finished(std::exchange(this->handled_at_, 0));
        return ok ? Next(thread, thread.Arrival()) : Fail(grpc::Status::OK);
    }
  }

 private:
  enum class State { kPosted, kWriting };

  template <typename Thread>
  void Begin(Thread& thread) {
    const Nanos arrived = thread.Arrival();
    thread.Accepted(this);
    const grpc::Status status = M::CountResponses(this->request_.Current(), &left_);
    return status.ok() ? Next(thread, arrived) : Fail(status);
  }
  template <typename Thread>
  void Next(Thread& thread, Nanos arrived) {
    if (left_ == 0) return Finish(grpc::Status::OK);
    typename M::Response& response = this->response_.Next();
    --left_;
    const grpc::Status status = HandleNext<M>(this->request_.Current(), left_, &response);
    thread.Spend();
    if (!status.ok()) return Fail(status);
    thread.Responded();
    this->handled_at_ = thread.times().Handled(arrived);
    const bool first = std::exchange(state_, State::kWriting) == State::kPosted;
    if (left_ > 0) return this->stream_->Write(response, thread.write_options(first), this->Tag());
    this->stream_->WriteAndFinish(response, grpc::WriteOptions(), status, this->LastTag());
  }
  void Fail(const grpc::Status& status) {
    this->good_ = false;
    Finish(status);
  }
  void Finish(const grpc::Status& status) { this->stream_->Finish(status, this->LastTag()); }

  State state_ = State::kPosted;
  uint32_t left_ = 0;
};

template <typename M>
class BidiCall : public TypedCall<M, grpc::ServerAsyncReaderWriter<typename M::Response, typename M::Request>> {
 public:
  explicit BidiCall(MessageStrategy messages) : BidiCall::TypedCall(messages) {}

  template <typename Thread>
  void Post(Thread& thread) {
    state_ = State::kPosted;
    this->template Request<BidiCall>(thread);
  }

  template <typename Thread>
  void Step(Thread& thread, bool ok) {
    if (this->is_last()) return this->End(this, thread, ok);
    switch (state_) {
      case State::kPosted:
        if (!ok) return;  // shutting down, no request came
        thread.Accepted(this);
        return Read();
      case State::kReading:
        return ok ? Respond(thread) : Finish(grpc::Status::OK);  // the client will send no more
      case State::kWriting:
        thread.times().Finished(std::exchange(this->handled_at_, 0));
        return ok ? Read() : Fail(grpc::Status::OK);
    }
  }

 private:
  enum class State { kPosted, kReading, kWriting };

  void Read() {
    state_ = State::kReading;
    this->stream_->Read(&this->request_.Next(), this->Tag());
  }
  template <typename Thread>
  void Respond(Thread& thread) {
    const Nanos arrived = thread.Arrival();
    typename M::Response& response = this->response_.Next();
    const grpc::Status status = M::Handle(this->request_.Current(), &response);
    thread.Spend();
    if (!status.ok()) return Fail(status);
    thread.Responded();
    this->handled_at_ = thread.times().Handled(arrived);
    state_ = State::kWriting;
    this->stream_->Write(response, this->Tag());
  }
  void Fail(const grpc::Status& status) {
    this->good_ = false;
    Finish(status);
  }
  void Finish(const grpc::Status& status) { this->stream_->Finish(status, this->LastTag()); }

  State state_ = State::kPosted;
};

template <typename M>
auto CallOf() {
  if constexpr (M::kShape == Shape::kUnary) return std::type_identity<UnaryCall<M>>();
  if constexpr (M::kShape == Shape::kClientStreaming) return std::type_identity<UploadCall<M>>();
  if constexpr (M::kShape == Shape::kServerStreaming) return std::type_identity<DownloadCall<M>>();
  if constexpr (M::kShape == Shape::kBidi) return std::type_identity<BidiCall<M>>();
}

template <typename... Ms>
using TypedServer = CqServer<AsyncServices<ServicesOf<Ms...>>, typename decltype(CallOf<Ms>())::type...>;

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartCqServer(const ServerConfig& config) {
  return AllMethods::Apply<TypedServer>::Start(config);
}

}  // namespace cqbench
