// --api callback: reactors on the library's threads.

#include <grpcpp/grpcpp.h>

#include "src/server/apis/library_threads_server.h"
#include "src/server/apis/message_pool.h"
#include "src/server/apis/server_kinds.h"
#include "src/server/limits/memory_guard.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench {
namespace {

// What the reactors of streams have in common. One object per stream, not per message; the library has no way to reuse
// a reactor that it gave away. A read that fails is the end of the requests or of the connection.
template <typename Reactor>
class StreamReactor : public Reactor {
 public:
  void OnCancel() final { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() final {
    probes_.times->Finished(handled_at_);  // of a response that went with the status
    probes_.counts->Ended(good_ && !cancelled_.load(std::memory_order_relaxed));
    delete this;
  }

 protected:
  explicit StreamReactor(const HandlerProbes& probes) : probes_(probes) { probes_.counts->Started(); }

  // Before a response is handed to the library.
  void Responded(Nanos arrived) {
    probes_.counts->Responded();
    handled_at_ = probes_.times->Handled(arrived);
  }
  void Sent() { probes_.times->Finished(std::exchange(handled_at_, 0)); }
  void Fail(const grpc::Status& status) {
    good_ = false;
    this->Finish(status);
  }

  const HandlerProbes probes_;

 private:
  bool good_ = true;
  Nanos handled_at_ = 0;                // 0: this message is not timed
  std::atomic<bool> cancelled_{false};  // OnCancel may run beside other reactions
};

template <typename M>
class UploadReactor final : public StreamReactor<grpc::ServerReadReactor<typename M::Request>> {
 public:
  UploadReactor(const HandlerProbes& probes, typename M::Response* response)
      : UploadReactor::StreamReactor(probes), request_(probes.messages), response_(response) {
    this->StartRead(&request_.Next());
  }
  void OnReadDone(bool ok) override {
    if (!ok) return Respond();
    const grpc::Status status = M::Take(request_.Current(), gathered_);
    this->probes_.load->Spend();
    if (!status.ok()) return this->Fail(status);
    this->StartRead(&request_.Next());
  }

 private:
  void Respond() {
    const Nanos arrived = this->probes_.Arrival();
    const grpc::Status status = M::Respond(gathered_, response_);
    if (!status.ok()) return this->Fail(status);
    this->Responded(arrived);
    this->Finish(status);
  }

  MessageSupply<typename M::Request> request_;
  typename M::Response* const response_;
  typename M::Gathered gathered_{};
};

template <typename M>
class DownloadReactor final : public StreamReactor<grpc::ServerWriteReactor<typename M::Response>> {
 public:
  DownloadReactor(const HandlerProbes& probes, const typename M::Request* request)
      : DownloadReactor::StreamReactor(probes), request_(*request), response_(probes.messages) {
    MemoryGuard::MayBeBehind() ? this->StartSendInitialMetadata() : Begin();  // as in LateReactor
  }
  void OnSendInitialMetadataDone(bool ok) override { ok ? Begin() : this->Fail(grpc::Status::CANCELLED); }
  void OnWriteDone(bool ok) override {
    this->Sent();
    ok ? Next(this->probes_.Arrival()) : this->Fail(grpc::Status::OK);
  }

 private:
  void Begin() {
    const Nanos arrived = this->probes_.Arrival();
    const grpc::Status status = M::CountResponses(request_, &left_);
    status.ok() ? Next(arrived) : this->Fail(status);
  }
  void Next(Nanos arrived) {
    if (left_ == 0) return this->Finish(grpc::Status::OK);
    --left_;
    const grpc::Status status = HandleNext<M>(request_, left_, &response_.Next());
    this->probes_.load->Spend();
    if (!status.ok()) return this->Fail(status);
    this->Responded(arrived);
    if (left_ > 0) return this->StartWrite(&response_.Current(), std::exchange(options_, this->probes_.write_options));
    this->StartWriteAndFinish(&response_.Current(), grpc::WriteOptions(), status);
  }

  const typename M::Request& request_;
  MessageSupply<typename M::Response> response_;
  grpc::WriteOptions options_;  // of the next write: the first has no hint, since the headers go with it
  uint32_t left_ = 0;
};

template <typename M>
class BidiReactor final : public StreamReactor<grpc::ServerBidiReactor<typename M::Request, typename M::Response>> {
 public:
  explicit BidiReactor(const HandlerProbes& probes)
      : BidiReactor::StreamReactor(probes), request_(probes.messages), response_(probes.messages) {
    this->StartRead(&request_.Next());
  }
  void OnReadDone(bool ok) override {
    if (!ok) return this->Finish(grpc::Status::OK);  // the client will send no more
    const Nanos arrived = this->probes_.Arrival();
    const grpc::Status status = M::Handle(request_.Current(), &response_.Next());
    this->probes_.load->Spend();
    if (!status.ok()) return this->Fail(status);
    this->Responded(arrived);
    this->StartWrite(&response_.Current());
  }
  void OnWriteDone(bool ok) override {
    this->Sent();
    if (!ok) return this->Fail(grpc::Status::OK);
    this->StartRead(&request_.Next());
  }

 private:
  MessageSupply<typename M::Request> request_;
  MessageSupply<typename M::Response> response_;
};

template <typename M>
grpc::Status HandleUnary(const HandlerProbes& probes, const typename M::Request& request,
                         typename M::Response* response) {
  const grpc::Status status = M::Handle(request, response);
  probes.load->Spend();
  if (status.ok()) probes.counts->Responded();
  return status;
}

// A unary call of a server that may be behind: the call waited in the library, where nothing bounds how many do, and
// may have been reset meanwhile. When a handler begins IsCancelled() does not know (gRPC 1.51.1); whether headers can
// be sent says it, after the calls before have been taken.
template <typename M>
class LateReactor final : public grpc::ServerUnaryReactor {
 public:
  LateReactor(const HandlerProbes& probes, const typename M::Request* request, typename M::Response* response)
      : probes_(probes), request_(*request), response_(response) {
    StartSendInitialMetadata();
  }
  void OnSendInitialMetadataDone(bool ok) override {
    const Nanos arrived = probes_.Arrival();
    const grpc::Status status = ok ? HandleUnary<M>(probes_, request_, response_) : grpc::Status::CANCELLED;
    probes_.counts->Ended(status.ok());
    if (ok) probes_.times->Handled(arrived);
    Finish(status);
  }
  void OnDone() override { delete this; }

 private:
  const HandlerProbes probes_;
  const typename M::Request& request_;
  typename M::Response* const response_;
};

// One function per shape; the arguments tell which it is.
template <typename M>
struct CallbackHandler {
  using Request = typename M::Request;
  using Response = typename M::Response;

  // Unary. The default reactor lives in the call: nothing is allocated for it. It does not tell when the response is
  // sent.
  static grpc::ServerUnaryReactor* Serve(const HandlerProbes& probes, grpc::CallbackServerContext* context,
                                         const Request* request, Response* response) {
    probes.counts->Started();
    if (MemoryGuard::MayBeBehind()) [[unlikely]]
      return new LateReactor<M>(probes, request, response);
    const Nanos arrived = probes.Arrival();
    const grpc::Status status = HandleUnary<M>(probes, *request, response);
    probes.counts->Ended(status.ok());
    probes.times->Handled(arrived);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }
  // Client-streaming.
  static auto* Serve(const HandlerProbes& probes, grpc::CallbackServerContext* /*context*/, Response* response) {
    return new UploadReactor<M>(probes, response);
  }
  // Server-streaming.
  static auto* Serve(const HandlerProbes& probes, grpc::CallbackServerContext* /*context*/, const Request* request) {
    return new DownloadReactor<M>(probes, request);
  }
  // Bidi.
  static auto* Serve(const HandlerProbes& probes, grpc::CallbackServerContext* /*context*/) {
    return new BidiReactor<M>(probes);
  }
};

struct CallbackApi {
  template <typename Service>
  struct Root : Service::CallbackService {
    using Served = Service;
    explicit Root(const HandlerProbes& to) : probes(to) {}
    const HandlerProbes probes;
  };
  template <typename M, typename Base>
  using On = typename M::template OnCallback<Base, CallbackHandler<M>>;
};

template <typename... Ms>
class CallbackServices {
 public:
  static constexpr char kForced[] = "requests of server-streaming calls, responses of client-streaming ones";

  CallbackServices(const HandlerProbes& probes, ControlBackend* control)
      : control_(control), pools_((static_cast<void>(sizeof(Ms)), probes.messages)...), services_(probes) {
    // Without an allocator the library constructs both messages in the memory of the call: fresh.
    if (probes.messages != MessageStrategy::kFresh) (Allocate<Ms>(), ...);
  }
  void StopServing() {}  // the library's health service ends its watches by itself
  void Register(grpc::ServerBuilder& builder) {
    builder.RegisterService(&control_);
    services_.Register(builder);
  }

 private:
  template <typename M>
  void Allocate() {
    if constexpr (M::kShape == Shape::kUnary) {
      M::SetAllocator(services_.template For<M>(), &std::get<MessagePool<M>>(pools_));
    }
  }

  CallbackControlService control_;
  std::tuple<MessagePool<Ms>...> pools_;
  ServiceObjects<CallbackApi, ServicesOf<Ms...>, Ms...> services_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartCallbackServer(const ServerConfig& config) {
  return LibraryThreadsServer<AllMethods::Apply<CallbackServices>>::Start(config, [](grpc::ServerBuilder&) {});
}

}  // namespace cqbench
