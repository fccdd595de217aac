// --api sync: the library's thread pool blocks in the handlers. --num-cqs and --workers-per-cq set its completion
// queues and pollers.

#include <grpcpp/grpcpp.h>

#include "src/server/library_threads_server.h"
#include "src/server/server_kinds.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

template <typename Workload>
struct SyncHandlers {
  using Request = typename Workload::Request;
  using Response = typename Workload::Response;

  SharedCounts* counts;

  grpc::Status Unary(const Request& request, Response* response) const {
    counts->Started();
    const grpc::Status status = Workload::Handle(request, response);
    if (status.ok()) counts->Answered();
    counts->Ended(status.ok());
    return status;
  }

  grpc::Status Stream(grpc::ServerReaderWriter<Response, Request>* stream) const {
    counts->Started();
    Request request;
    Response response;
    grpc::Status status;
    bool written = true;
    while (written && status.ok() && stream->Read(&request)) {
      status = Workload::Handle(request, &response);
      if (!status.ok()) break;
      counts->Answered();
      written = stream->Write(response);
    }
    counts->Ended(written && status.ok());
    return status;
  }
};

template <typename... Workloads>
class SyncServices {
 public:
  explicit SyncServices(SharedCounts* counts) : services_(SyncHandlers<Workloads>{counts}...) {}
  void Register(grpc::ServerBuilder& builder) {
    std::apply([&](auto&... service) { (builder.RegisterService(&service), ...); }, services_);
  }

 private:
  std::tuple<typename Workloads::template SyncService<SyncHandlers<Workloads>>...> services_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartSyncServer(const ServerConfig& config) {
  return LibraryThreadsServer<WithAllWorkloads<SyncServices>>::Start(config, [&](grpc::ServerBuilder& builder) {
    using Option = grpc::ServerBuilder::SyncServerOption;
    builder.SetSyncServerOption(Option::NUM_CQS, config.num_cqs);
    builder.SetSyncServerOption(Option::MIN_POLLERS, config.workers_per_cq);
    builder.SetSyncServerOption(Option::MAX_POLLERS, config.workers_per_cq);
  });
}

}  // namespace cqbench
