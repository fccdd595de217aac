// --api cq: completion queues and generated messages, the server of the source post.

#include <grpcpp/grpcpp.h>

#include <optional>
#include <tuple>

#include "src/server/apis/call_steps.h"
#include "src/server/apis/cq_call.h"
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

// The library's object that reads and writes.
template <typename M, Shape shape = M::kShape>
struct StreamOf {
  using Type = grpc::ServerAsyncResponseWriter<typename M::Response>;
};
template <typename M>
struct StreamOf<M, Shape::kClientStreaming> {
  using Type = grpc::ServerAsyncReader<typename M::Response, typename M::Request>;
};
template <typename M>
struct StreamOf<M, Shape::kServerStreaming> {
  using Type = grpc::ServerAsyncWriter<typename M::Response>;
};
template <typename M>
struct StreamOf<M, Shape::kBidi> {
  using Type = grpc::ServerAsyncReaderWriter<typename M::Response, typename M::Request>;
};

template <typename M>
class TypedCall final : public CqCall<TypedCall<M>, MethodSteps<M, TypedCall<M>>> {
  static constexpr bool kReads = ReadsStream(M::kShape);  // otherwise the request comes with the call
  static constexpr bool kWrites = WritesStream(M::kShape);

 public:
  explicit TypedCall(MessageStrategy messages) : request_(messages), response_(messages) {}

  // Requests one call. A context cannot be used twice, and the stream is bound to it.
  template <typename Thread>
  void Post(Thread& thread) {
    this->template Bind<TypedCall, Thread>();
    this->Reset();
    this->state_ = TypedCall::State::kPosted;
    context_.emplace();
    stream_.emplace(&*context_);
    auto& service = thread.services().template For<typename M::Service>();
    const auto post = [&](auto*... request) {
      (service.*M::kPost)(&*context_, request..., &*stream_, thread.queue(), thread.queue(), this->Tag());
    };
    if constexpr (kReads) {
      post();
    } else {
      post(&request_.Next());
    }
  }
  template <typename Thread>
  void Begin(Thread& thread) {
    const Nanos arrived = kReads ? 0 : thread.Arrival();
    thread.Accepted(this);
    kReads ? Read() : this->OnRequest(thread, arrived);
  }
  // The library's memory of a call lives as long as its context.
  void Rest() {
    stream_.reset();
    context_.reset();
    request_.Rest();
    response_.Rest();
  }

  // A read that fails is the end of the requests or of the connection.
  void Read() {
    this->state_ = TypedCall::State::kReading;
    if constexpr (kReads) stream_->Read(&request_.Next(), this->Tag());
  }
  void Write(const grpc::WriteOptions& options) {
    this->state_ = TypedCall::State::kWriting;
    if constexpr (kWrites) stream_->Write(response_.Current(), options, this->Tag());
  }
  void WriteLast() {
    if constexpr (kWrites) {
      stream_->WriteAndFinish(response_.Current(), grpc::WriteOptions(), grpc::Status::OK, this->LastTag());
    } else {
      stream_->Finish(response_.Current(), grpc::Status::OK, this->LastTag());
    }
  }
  void End(const grpc::Status& status) {
    if constexpr (kWrites) {
      stream_->Finish(status, this->LastTag());
    } else {
      stream_->FinishWithError(status, this->LastTag());
    }
  }
  const typename M::Request& request() { return request_.Current(); }
  typename M::Response& NextResponse() { return response_.Next(); }

 private:
  std::optional<grpc::ServerContext> context_;
  std::optional<typename StreamOf<M>::Type> stream_;
  MessageSupply<typename M::Request> request_;
  MessageSupply<typename M::Response> response_;
};

template <typename... Ms>
using TypedServer = CqServer<AsyncServices<ServicesOf<Ms...>>, TypedCall<Ms>...>;

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartCqServer(const ServerConfig& config) {
  return AllMethods::Apply<TypedServer>::Start(config);
}

}  // namespace cqbench
