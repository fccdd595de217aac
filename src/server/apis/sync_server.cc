// --api sync: the library's thread pool blocks in the handlers. --num-cqs sets its completion queues, --workers-per-cq
// the threads that it keeps waiting on each.

#include <grpcpp/grpcpp.h>

#include <utility>

#include "src/server/apis/library_threads_server.h"
#include "src/server/apis/server_kinds.h"
#include "src/server/limits/memory_guard.h"
#include "src/server/services/health_service.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench {
namespace {

// One function per shape; the arguments tell which it is. A read that fails is the end of the requests or of the
// connection.
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
    probes.load->Spend();
    if (WasCancelled(*context)) {  // nothing large is serialized for nobody
      response->Clear();
      return Cancelled(probes);
    }
    if (status.ok()) probes.counts->Responded();
    probes.counts->Ended(status.ok());
    probes.times->Handled(arrived);
    return status;
  }

  // Client-streaming.
  static grpc::Status Serve(const HandlerProbes& probes, grpc::ServerContext* context,
                            grpc::ServerReader<Request>* reader, Response* response) {
    probes.counts->Started();
    MessageSupply<Request> request(probes.messages);
    typename M::Gathered gathered{};
    grpc::Status status;
    while (status.ok() && reader->Read(&request.Next())) {
      status = M::Take(request.Current(), gathered);
      probes.load->Spend();
    }
    const Nanos arrived = probes.Arrival();
    if (status.ok()) status = M::Respond(gathered, response);
    if (status.ok()) probes.counts->Responded();
    probes.counts->Ended(status.ok() && !context->IsCancelled());
    probes.times->Handled(arrived);
    return status;
  }

  // Server-streaming.
  static grpc::Status Serve(const HandlerProbes& probes, grpc::ServerContext* context, const Request* request,
                            grpc::ServerWriter<Response>* writer) {
    Nanos arrived = probes.Arrival();
    probes.counts->Started();
    if (WasCancelled(*context)) return Cancelled(probes);
    MessageSupply<Response> response(probes.messages);
    grpc::WriteOptions options;  // the first write has no hint: the headers go with it
    uint32_t left = 0;
    grpc::Status status = M::CountResponses(*request, &left);
    bool written = true;
    for (; written && status.ok() && left > 0; --left) {
      status = HandleNext<M>(*request, left - 1, &response.Next());
      probes.load->Spend();
      if (!status.ok()) break;
      probes.counts->Responded();
      const Nanos handled = probes.times->Handled(arrived);
      // The last one goes together with the status.
      written = writer->Write(response.Current(), left == 1 ? grpc::WriteOptions().set_last_message()
                                                            : std::exchange(options, probes.write_options));
      probes.times->Finished(handled);
      arrived = probes.Arrival();
    }
    probes.counts->Ended(written && status.ok() && !context->IsCancelled());
    return status;
  }

  // Bidi.
  static grpc::Status Serve(const HandlerProbes& probes, grpc::ServerContext* context,
                            grpc::ServerReaderWriter<Response, Request>* stream) {
    probes.counts->Started();
    MessageSupply<Request> request(probes.messages);
    MessageSupply<Response> response(probes.messages);
    grpc::Status status;
    bool written = true;
    while (written && status.ok() && stream->Read(&request.Next())) {
      const Nanos arrived = probes.Arrival();
      status = M::Handle(request.Current(), &response.Next());
      probes.load->Spend();
      if (!status.ok()) break;
      probes.counts->Responded();
      const Nanos handled = probes.times->Handled(arrived);
      written = stream->Write(response.Current());
      probes.times->Finished(handled);
    }
    probes.counts->Ended(written && status.ok() && !context->IsCancelled());
    return status;
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
