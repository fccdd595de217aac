// --api generic: completion queues and byte buffers. Whatever the method, the library delivers the call unparsed; no
// protobuf message is made on the way, so what is left is the cost of the RPC itself.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/server/cq_server.h"
#include "src/server/server_kinds.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

struct Method {
  std::string path;
  bool streaming;
  grpc::Status (*handle)(const grpc::ByteBuffer& request, grpc::ByteBuffer* response);
};

template <typename... Workloads>
struct GenericServices {
  const std::vector<Method> methods = {
      {Workloads::UnaryPath(), false, &Workloads::HandleBytes}...,
      {Workloads::StreamPath(), true, &Workloads::HandleBytes}...,
  };

  grpc::AsyncGenericService generic;
  // For reflection, which lists services that have a method of their own. Registered for a host that no call names, so
  // that the calls go to the generic service.
  static constexpr char kNoHost[] = "reflection.invalid";
  std::tuple<typename Workloads::Service::Service...> named;

  void Register(grpc::ServerBuilder& builder) {
    builder.RegisterAsyncGenericService(&generic);
    (builder.RegisterService(kNoHost, &std::get<typename Workloads::Service::Service>(named)), ...);
  }
  // nullptr when there is no such method.
  const Method* Find(const std::string& path) const {
    for (const Method& method : methods) {
      if (method.path == path) return &method;
    }
    return nullptr;
  }
};

class GenericCall : public ServerEvent {
 public:
  template <typename Worker>
  void Post(Worker& worker) {
    Bind<GenericCall, Worker>();
    state_ = State::kPosted;
    good_ = true;
    handled_at_ = 0;
    stream_.reset();
    context_.emplace();
    stream_.emplace(&*context_);
    worker.services().generic.RequestCall(&*context_, &*stream_, worker.queue(), worker.queue(), Tag());
  }

  template <typename Worker>
  void Step(Worker& worker, bool ok) {
    switch (state_) {
      case State::kPosted:
        if (!ok) return;  // shutting down, no request came
        arrived_ = worker.Arrival();
        worker.Accepted(this);
        method_ = worker.services().Find(context_->method());
        if (method_ == nullptr) return Fail({grpc::StatusCode::UNIMPLEMENTED, "no such method"});
        return Read();
      case State::kReading:
        if (ok) return Answer(worker);
        if (method_->streaming) return Finish(grpc::Status::OK);  // the client will send no more
        return Fail({grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"});
      case State::kWriting:
        worker.times().Finished(std::exchange(handled_at_, 0));
        if (ok) return Read();
        return Fail(grpc::Status::OK);
      case State::kFinishing:
        worker.times().Finished(handled_at_);
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
    // A unary call has come when its headers are there, a message of a stream when it has been read.
    const Nanos arrived = method_->streaming ? worker.Arrival() : arrived_;
    const grpc::Status status = method_->handle(request_, &response_);
    worker.Spend();
    if (!status.ok()) return Fail(status);
    worker.Answered();
    handled_at_ = worker.times().Handled(arrived);
    if (method_->streaming) {
      state_ = State::kWriting;
      stream_->Write(response_, Tag());
    } else {
      state_ = State::kFinishing;
      stream_->WriteAndFinish(response_, grpc::WriteOptions(), status, Tag());
    }
  }
  void Fail(const grpc::Status& status) {
    good_ = false;
    Finish(status);
  }
  void Finish(const grpc::Status& status) {
    state_ = State::kFinishing;
    stream_->Finish(status, Tag());
  }

  State state_ = State::kPosted;
  bool good_ = true;
  const Method* method_ = nullptr;
  Nanos arrived_ = 0;  // 0: this call is not timed
  Nanos handled_at_ = 0;
  std::optional<grpc::GenericServerContext> context_;
  std::optional<grpc::GenericServerAsyncReaderWriter> stream_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

template <typename... Workloads>
using GenericServer = CqServer<GenericServices<Workloads...>, GenericCall>;

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartGenericServer(const ServerConfig& config) {
  return WithAllWorkloads<GenericServer>::Start(config);
}

}  // namespace cqbench
