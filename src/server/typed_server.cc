// --api cq: completion queues and generated messages, the server of the source post.

#include <grpcpp/grpcpp.h>

#include <optional>
#include <tuple>

#include "src/server/cq_server.h"
#include "src/server/server_kinds.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

template <typename... Workloads>
struct AsyncServices {
  std::tuple<typename Workloads::AsyncService...> all;

  void Register(grpc::ServerBuilder& builder) {
    (builder.RegisterService(&std::get<typename Workloads::AsyncService>(all)), ...);
  }
  template <typename Workload>
  typename Workload::AsyncService& For() {
    return std::get<typename Workload::AsyncService>(all);
  }
};

template <typename Workload>
class UnaryCall : public ServerEvent {
 public:
  template <typename Worker>
  void Post(Worker& worker) {
    this->template Bind<UnaryCall, Worker>();
    state_ = State::kPosted;
    // A context cannot be used twice, and the writer is bound to it.
    writer_.reset();
    context_.emplace();
    writer_.emplace(&*context_);
    Workload::RequestUnary(worker.services().template For<Workload>(), &*context_, &request_, &*writer_, worker.queue(),
                           worker.queue(), Tag());
  }

  template <typename Worker>
  void Step(Worker& worker, bool ok) {
    if (state_ == State::kAnswered) {
      worker.times().Finished(handled_at_);
      return worker.Ended(this, ok && handled_);
    }
    if (!ok) return;  // shutting down, no request came
    const Nanos arrived = worker.Arrival();
    worker.Accepted(this);
    state_ = State::kAnswered;
    const grpc::Status status = Workload::Handle(request_, &response_);
    worker.Spend();
    handled_ = status.ok();
    handled_at_ = worker.times().Handled(arrived);
    if (handled_) {
      worker.Answered();
      writer_->Finish(response_, status, Tag());
    } else {
      writer_->FinishWithError(status, Tag());
    }
  }

 private:
  enum class State { kPosted, kAnswered };
  void* Tag() { return static_cast<ServerEvent*>(this); }

  State state_ = State::kPosted;
  bool handled_ = false;
  Nanos handled_at_ = 0;  // 0: this call is not timed
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncResponseWriter<typename Workload::Response>> writer_;
  typename Workload::Request request_;
  typename Workload::Response response_;
};

template <typename Workload>
class StreamCall : public ServerEvent {
 public:
  template <typename Worker>
  void Post(Worker& worker) {
    this->template Bind<StreamCall, Worker>();
    state_ = State::kPosted;
    good_ = true;
    stream_.reset();
    context_.emplace();
    stream_.emplace(&*context_);
    Workload::RequestStream(worker.services().template For<Workload>(), &*context_, &*stream_, worker.queue(),
                            worker.queue(), Tag());
  }

  template <typename Worker>
  void Step(Worker& worker, bool ok) {
    switch (state_) {
      case State::kPosted:
        if (!ok) return;  // shutting down, no request came
        worker.Accepted(this);
        return Read();
      case State::kReading:
        if (!ok) return Finish(grpc::Status::OK);  // the client will send no more
        return Answer(worker);
      case State::kWriting:
        worker.times().Finished(handled_at_);
        if (ok) return Read();
        good_ = false;
        return Finish(grpc::Status::OK);
      case State::kFinishing:
        return worker.Ended(this, ok && good_);
    }
  }

 private:
  enum class State { kPosted, kReading, kWriting, kFinishing };
  void* Tag() { return static_cast<ServerEvent*>(this); }

  void Read() {
    state_ = State::kReading;
    stream_->Read(&request_, Tag());
  }
  template <typename Worker>
  void Answer(Worker& worker) {
    const Nanos arrived = worker.Arrival();
    const grpc::Status status = Workload::Handle(request_, &response_);
    worker.Spend();
    if (!status.ok()) {
      good_ = false;
      return Finish(status);
    }
    worker.Answered();
    handled_at_ = worker.times().Handled(arrived);
    state_ = State::kWriting;
    stream_->Write(response_, Tag());
  }
  void Finish(const grpc::Status& status) {
    state_ = State::kFinishing;
    stream_->Finish(status, Tag());
  }

  State state_ = State::kPosted;
  bool good_ = true;
  Nanos handled_at_ = 0;  // 0: this message is not timed
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncReaderWriter<typename Workload::Response, typename Workload::Request>> stream_;
  typename Workload::Request request_;
  typename Workload::Response response_;
};

template <typename... Workloads>
using TypedServer = CqServer<AsyncServices<Workloads...>, UnaryCall<Workloads>..., StreamCall<Workloads>...>;

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartCqServer(const ServerConfig& config) {
  return WithAllWorkloads<TypedServer>::Start(config);
}

}  // namespace cqbench
