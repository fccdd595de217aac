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
  explicit StreamReactor(const HandlerProbes& probes) : probes_(probes) {
    probes_.counts->Started();
    this->StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End(grpc::Status::OK);  // the client will send no more
    const Nanos arrived = probes_.Arrival();
    const grpc::Status status = Workload::Handle(request_, &response_);
    probes_.load->Spend();
    if (!status.ok()) {
      good_ = false;
      return End(status);
    }
    probes_.counts->Answered();
    handled_at_ = probes_.times->Handled(arrived);
    this->StartWrite(&response_);
  }
  void OnWriteDone(bool ok) override {
    probes_.times->Finished(handled_at_);
    if (ok) return this->StartRead(&request_);
    good_ = false;
    End(grpc::Status::OK);
  }
  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override {
    probes_.counts->Ended(good_ && !cancelled_.load(std::memory_order_relaxed));
    delete this;
  }

 private:
  void End(const grpc::Status& status) { this->Finish(status); }

  const HandlerProbes probes_;
  bool good_ = true;
  Nanos handled_at_ = 0;                // 0: this message is not timed
  std::atomic<bool> cancelled_{false};  // OnCancel may run beside other reactions
  typename Workload::Request request_;
  typename Workload::Response response_;
};

template <typename Workload>
struct CallbackHandlers {
  HandlerProbes probes;

  // The default reactor lives in the call: nothing is allocated for it. It does not tell when the answer is sent.
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context, const typename Workload::Request& request,
                                  typename Workload::Response* response) const {
    const Nanos arrived = probes.Arrival();
    probes.counts->Started();
    const grpc::Status status = Workload::Handle(request, response);
    probes.load->Spend();
    if (status.ok()) probes.counts->Answered();
    probes.counts->Ended(status.ok());
    probes.times->Handled(arrived);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }
  auto* Stream() const { return new StreamReactor<Workload>(probes); }
};

template <typename... Workloads>
class CallbackServices {
 public:
  CallbackServices(const HandlerProbes& probes, ControlBackend* control)
      : control_(control), services_(CallbackHandlers<Workloads>{probes}...) {}
  void StopServing() {}  // the library's health service ends its watches by itself
  void Register(grpc::ServerBuilder& builder) {
    builder.RegisterService(&control_);
    std::apply([&](auto&... service) { (builder.RegisterService(&service), ...); }, services_);
  }

 private:
  CallbackControlService control_;
  std::tuple<typename Workloads::template CallbackService<CallbackHandlers<Workloads>>...> services_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartCallbackServer(const ServerConfig& config) {
  return LibraryThreadsServer<WithAllWorkloads<CallbackServices>>::Start(config, [](grpc::ServerBuilder&) {
    grpc::EnableDefaultHealthCheckService(true);  // of the callback API itself: nothing foreign comes in
  });
}

}  // namespace cqbench
