// --api callback: reactors on the library's threads.

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "src/server/library_threads_server.h"
#include "src/server/server_kinds.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

// One per stream, not per message; the library has no way to reuse a reactor that it gave away.
template <typename Workload>
class StreamReactor final : public grpc::ServerBidiReactor<typename Workload::Request, typename Workload::Response> {
 public:
  explicit StreamReactor(SharedCounts* counts) : counts_(counts) {
    counts_->Started();
    this->StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End(grpc::Status::OK);  // the client will send no more
    const grpc::Status status = Workload::Handle(request_, &response_);
    if (!status.ok()) {
      good_ = false;
      return End(status);
    }
    counts_->Answered();
    this->StartWrite(&response_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) return this->StartRead(&request_);
    good_ = false;
    End(grpc::Status::OK);
  }
  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override {
    counts_->Ended(good_ && !cancelled_.load(std::memory_order_relaxed));
    delete this;
  }

 private:
  void End(const grpc::Status& status) { this->Finish(status); }

  SharedCounts* const counts_;
  bool good_ = true;
  std::atomic<bool> cancelled_{false};  // OnCancel may run beside other reactions
  typename Workload::Request request_;
  typename Workload::Response response_;
};

template <typename Workload>
struct CallbackHandlers {
  SharedCounts* counts;

  // The default reactor lives in the call: nothing is allocated for it.
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context, const typename Workload::Request& request,
                                  typename Workload::Response* response) const {
    counts->Started();
    const grpc::Status status = Workload::Handle(request, response);
    if (status.ok()) counts->Answered();
    counts->Ended(status.ok());
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }
  auto* Stream() const { return new StreamReactor<Workload>(counts); }
};

template <typename... Workloads>
class CallbackServices {
 public:
  explicit CallbackServices(SharedCounts* counts) : services_(CallbackHandlers<Workloads>{counts}...) {}
  void StopServing() {}  // the library's health service ends its watches by itself
  void Register(grpc::ServerBuilder& builder) {
    std::apply([&](auto&... service) { (builder.RegisterService(&service), ...); }, services_);
  }

 private:
  std::tuple<typename Workloads::template CallbackService<CallbackHandlers<Workloads>>...> services_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartCallbackServer(const ServerConfig& config) {
  return LibraryThreadsServer<WithAllWorkloads<CallbackServices>>::Start(config, [](grpc::ServerBuilder&) {
    grpc::EnableDefaultHealthCheckService(true);  // of the callback API itself: nothing foreign comes in
  });
}

}  // namespace cqbench
