// --api sync: the library's thread pool blocks in the handlers. --num-cqs sets its completion queues, --workers-per-cq
// the threads that it keeps waiting on each.

#include <grpcpp/grpcpp.h>

#include <utility>

#include "src/server/apis/call_steps.h"
#include "src/server/apis/library_threads_server.h"
#include "src/server/apis/server_kinds.h"
#include "src/server/limits/memory_guard.h"
#include "src/server/services/health_service.h"

namespace cqbench {
namespace {

// A stream, on the thread of the library's that handles it.
template <typename M, typename Stream>
class SyncStream final : public MethodSteps<M, SyncStream<M, Stream>> {
  static constexpr bool kReads = ReadsStream(M::kShape);
  static constexpr bool kWrites = WritesStream(M::kShape);

 public:
  template <typename Requests, typename Responses>
  SyncStream(const HandlerProbes& probes, Stream* stream, Requests requests, Responses responses)
      : probes_(probes), stream_(*stream), request_(requests), response_(responses) {}

  grpc::Status Run(grpc::ServerContext* context) {
    kReads ? Read() : this->OnRequest(probes_, probes_.Arrival());
    while (next_ != Next::kNothing) Step(std::exchange(next_, Next::kNothing));
    probes_.counts->Ended(this->good() && !context->IsCancelled());
    return status_;
  }

  void Read() { next_ = Next::kRead; }
  void Write(const grpc::WriteOptions& options) {
    options_ = options;
    next_ = Next::kWrite;
  }
  // The last one goes together with the status.
  void WriteLast() {
    options_ = grpc::WriteOptions().set_last_message();
    if (kWrites) next_ = Next::kWriteLast;
  }
  void End(const grpc::Status& status) { status_ = status; }
  const typename M::Request& request() { return request_.Current(); }
  typename M::Response& NextResponse() { return response_.Next(); }

 private:
  enum class Next { kNothing, kRead, kWrite, kWriteLast };

  // A read that fails is the end of the requests or of the connection.
  void Step(Next next) {
    if constexpr (kReads) {
      if (next == Next::kRead) {
        return stream_.Read(&request_.Next()) ? this->OnRequest(probes_, 0) : this->OnRequestsEnded(probes_);
      }
    }
    if constexpr (kWrites) {
      const bool written = stream_.Write(response_.Current(), options_);
      if (next == Next::kWrite) return this->OnWritten(probes_, written);
      this->OnSent(probes_);
      if (!written) this->Fail(grpc::Status::OK);
    }
  }

  const HandlerProbes& probes_;
  Stream& stream_;
  RequestsOf<M> request_;
  ResponsesOf<M> response_;
  Next next_ = Next::kNothing;
  grpc::WriteOptions options_;
  grpc::Status status_;
};

// One function per shape; the arguments tell which it is.
template <typename M>
struct SyncHandler {
  using Request = typename M::Request;
  using Response = typename M::Response;

  // Unary. That the response is sent is not told to the handler.
  static grpc::Status Serve(const HandlerProbes& probes, grpc::ServerContext* context, const Request* request,
                            Response* response) {
    const Nanos arrived = probes.Arrival();
    probes.counts->Started();
    if (WasCancelled(*context)) return Cancelled(probes);
    const grpc::Status status = M::Handle(*request, response);
    probes.Spend();
    if (WasCancelled(*context)) {  // nothing large is serialized for nobody
      response->Clear();
      return Cancelled(probes);
    }
    if (status.ok()) probes.Responded();
    probes.counts->Ended(status.ok());
    probes.times().Handled(arrived);
    return status;
  }
  // Client-streaming.
  static grpc::Status Serve(const HandlerProbes& probes, grpc::ServerContext* context,
                            grpc::ServerReader<Request>* reader, Response* response) {
    probes.counts->Started();
    return SyncStream<M, grpc::ServerReader<Request>>(probes, reader, probes.messages, response).Run(context);
  }
  // Server-streaming.
  static grpc::Status Serve(const HandlerProbes& probes, grpc::ServerContext* context, const Request* request,
                            grpc::ServerWriter<Response>* writer) {
    probes.counts->Started();
    if (WasCancelled(*context)) return Cancelled(probes);
    return SyncStream<M, grpc::ServerWriter<Response>>(probes, writer, request, probes.messages).Run(context);
  }
  // Bidi.
  static grpc::Status Serve(const HandlerProbes& probes, grpc::ServerContext* context,
                            grpc::ServerReaderWriter<Response, Request>* stream) {
    probes.counts->Started();
    using Stream = grpc::ServerReaderWriter<Response, Request>;
    return SyncStream<M, Stream>(probes, stream, probes.messages, probes.messages).Run(context);
  }

 private:
  // Asking takes 2,900 of 61,600 instructions of a unary call (gRPC 1.51.1, by callgrind), so
  // only a server in which calls may have waited asks.
  static bool WasCancelled(const grpc::ServerContext& context) {
    return MemoryGuard::MayBeBehind() && context.IsCancelled();
  }
  static grpc::Status Cancelled(const HandlerProbes& probes) {
    probes.counts->Ended(false);
    return grpc::Status::CANCELLED;
  }
};

struct SyncApi {
  template <typename Service>
  struct Root : Service::Service {
    using Served = Service;
    explicit Root(const HandlerProbes& to) : probes(to) {}
    const HandlerProbes probes;
  };
  template <typename M, typename Base>
  using On = typename M::template OnSync<Base, SyncHandler<M>>;
};

template <typename... Ms>
class SyncServices {
 public:
  static constexpr char kForced[] =
      "messages of unary calls, requests of server-streaming, responses of client-streaming ones";

  SyncServices(const HandlerProbes& probes, ControlBackend* control) : control_(control), services_(probes) {}
  void StopServing() { health_.StopServing(); }
  void Register(grpc::ServerBuilder& builder) {
    builder.RegisterService(&health_);
    builder.RegisterService(&control_);
    services_.Register(builder);
  }

 private:
  HealthService health_{ServiceNames()};
  ControlService control_;
  ServiceObjects<SyncApi, ServicesOf<Ms...>, Ms...> services_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartSyncServer(const ServerConfig& config) {
  return LibraryThreadsServer<AllMethods::Apply<SyncServices>>::Start(config, [&](grpc::ServerBuilder& builder) {
    using Option = grpc::ServerBuilder::SyncServerOption;
    builder.SetSyncServerOption(Option::NUM_CQS, config.num_cqs);
    builder.SetSyncServerOption(Option::MIN_POLLERS, config.workers_per_cq);
    // Twice as many, as by default. With no room above the minimum the pool starts and ends a thread for each call:
    // 25 k instead of 46 k requests per second (gRPC 1.51.1, one core).
    builder.SetSyncServerOption(Option::MAX_POLLERS, 2 * config.workers_per_cq);
  });
}

}  // namespace cqbench
