// --api callback: reactors on the library's threads.

#include <grpcpp/grpcpp.h>

#include "src/server/apis/call_steps.h"
#include "src/server/apis/library_threads_server.h"
#include "src/server/apis/message_pool.h"
#include "src/server/apis/server_kinds.h"
#include "src/server/limits/memory_guard.h"

namespace cqbench {
namespace {

// A stream. One object per stream, not per message; the library has no way to reuse a reactor that it gave away.
template <typename M, typename Reactor>
class StreamReactor final : public Reactor, public MethodSteps<M, StreamReactor<M, Reactor>> {
  static constexpr bool kReads = ReadsStream(M::kShape);
  static constexpr bool kWrites = WritesStream(M::kShape);

 public:
  template <typename Requests, typename Responses>
  StreamReactor(const HandlerProbes& probes, Requests requests, Responses responses)
      : probes_(probes), request_(requests), response_(responses) {
    probes_.counts->Started();
    if constexpr (kReads) {
      Read();
    } else {
      MemoryGuard::MayBeBehind() ? this->StartSendInitialMetadata() : Begin();  // as in LateReactor
    }
  }

  // The reactions, of which a Reactor has those that its shape needs. A read that fails is the end of the requests or
  // of the connection.
  void OnSendInitialMetadataDone(bool ok) {
    if constexpr (!kReads) ok ? Begin() : this->Fail(grpc::Status::CANCELLED);
  }
  void OnReadDone(bool ok) { ok ? this->OnRequest(probes_, 0) : this->OnRequestsEnded(probes_); }
  void OnWriteDone(bool ok) { this->OnWritten(probes_, ok); }
  void OnCancel() { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() {
    this->OnSent(probes_);  // of a response that went with the status
    probes_.counts->Ended(this->good() && !cancelled_.load(std::memory_order_relaxed));
    delete this;
  }

  void Read() {
    if constexpr (kReads) this->StartRead(&request_.Next());
  }
  void Write(const grpc::WriteOptions& options) {
    if constexpr (kWrites) this->StartWrite(&response_.Current(), options);
  }
  void WriteLast() {
    if constexpr (kWrites) {
      this->StartWriteAndFinish(&response_.Current(), grpc::WriteOptions(), grpc::Status::OK);
    } else {
      this->Finish(grpc::Status::OK);
    }
  }
  void End(const grpc::Status& status) { this->Finish(status); }
  const typename M::Request& request() { return request_.Current(); }
  typename M::Response& NextResponse() { return response_.Next(); }

 private:
  void Begin() { this->OnRequest(probes_, probes_.Arrival()); }

  const HandlerProbes probes_;
  RequestsOf<M> request_;
  ResponsesOf<M> response_;
  std::atomic<bool> cancelled_{false};  // OnCancel may run at the same time as other reactions
};

template <typename M>
grpc::Status HandleUnary(const HandlerProbes& probes, const typename M::Request& request,
                         typename M::Response* response) {
  const grpc::Status status = M::Handle(request, response);
  probes.Spend();
  if (status.ok()) probes.Responded();
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
    if (ok) probes_.times().Handled(arrived);
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
    probes.times().Handled(arrived);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }
  // Client-streaming.
  static auto* Serve(const HandlerProbes& probes, grpc::CallbackServerContext* /*context*/, Response* response) {
    return new StreamReactor<M, grpc::ServerReadReactor<Request>>(probes, probes.messages, response);
  }
  // Server-streaming.
  static auto* Serve(const HandlerProbes& probes, grpc::CallbackServerContext* /*context*/, const Request* request) {
    return new StreamReactor<M, grpc::ServerWriteReactor<Response>>(probes, request, probes.messages);
  }
  // Bidi.
  static auto* Serve(const HandlerProbes& probes, grpc::CallbackServerContext* /*context*/) {
    return new StreamReactor<M, grpc::ServerBidiReactor<Request, Response>>(probes, probes.messages, probes.messages);
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
