// --api sync: the library's thread pool blocks in the handlers. --num-cqs sets its completion queues, --workers-per-cq
// the threads that it keeps waiting on each.

#include <grpcpp/grpcpp.h>

#include "src/server/health_service.h"
#include "src/server/library_threads_server.h"
#include "src/server/server_kinds.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

template <typename Workload>
struct SyncHandlers {
  using Request = typename Workload::Request;
  using Response = typename Workload::Response;

  HandlerProbes probes;

  // That the answer is sent is not told to the handler of a unary call.
  grpc::Status Unary(const Request& request, Response* response) const {
    const Nanos arrived = probes.Arrival();
    probes.counts->Started();
    const grpc::Status status = Workload::Handle(request, response);
    probes.load->Spend();
    if (status.ok()) probes.counts->Answered();
    probes.counts->Ended(status.ok());
    probes.times->Handled(arrived);
    return status;
  }

  grpc::Status Stream(grpc::ServerContext* context, grpc::ServerReaderWriter<Response, Request>* stream) const {
    probes.counts->Started();
    Request request;
    Response response;
    grpc::Status status;
    bool written = true;
    while (written && status.ok() && stream->Read(&request)) {
      const Nanos arrived = probes.Arrival();
      status = Workload::Handle(request, &response);
      probes.load->Spend();
      if (!status.ok()) break;
      probes.counts->Answered();
      const Nanos handled = probes.times->Handled(arrived);
      written = stream->Write(response);
      probes.times->Finished(handled);
    }
    // A read that fails is the end of the requests or of the connection.
    probes.counts->Ended(written && status.ok() && !context->IsCancelled());
    return status;
  }
};

template <typename... Workloads>
class SyncServices {
 public:
  SyncServices(const HandlerProbes& probes, ControlBackend* control)
      : control_(control), services_(SyncHandlers<Workloads>{probes}...) {}
  void StopServing() { health_.StopServing(); }
  void Register(grpc::ServerBuilder& builder) {
    builder.RegisterService(&health_);
    builder.RegisterService(&control_);
    std::apply([&](auto&... service) { (builder.RegisterService(&service), ...); }, services_);
  }

 private:
  HealthService health_{WorkloadServiceNames()};
  ControlService control_;
  std::tuple<typename Workloads::template SyncService<SyncHandlers<Workloads>>...> services_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartSyncServer(const ServerConfig& config) {
  return LibraryThreadsServer<WithAllWorkloads<SyncServices>>::Start(config, [&](grpc::ServerBuilder& builder) {
    using Option = grpc::ServerBuilder::SyncServerOption;
    builder.SetSyncServerOption(Option::NUM_CQS, config.num_cqs);
    builder.SetSyncServerOption(Option::MIN_POLLERS, config.workers_per_cq);
    // Twice as many, as by default. With no room above the minimum the pool starts and ends a thread for each call:
    // 25 k instead of 46 k requests per second (gRPC 1.51.1, one core).
    builder.SetSyncServerOption(Option::MAX_POLLERS, 2 * config.workers_per_cq);
  });
}

}  // namespace cqbench
