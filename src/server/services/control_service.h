// The control service: what the server says of itself to clients that measure it (proto/control.proto).
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "cqbench/proto/control.grpc.pb.h"
#include "cqbench/server.h"
#include "src/observe/sampling/connections.h"
#include "src/result/grpc_build.h"
#include "src/server/limits/call_limit.h"
#include "src/server/limits/sample_budget.h"

namespace cqbench {

// The responses, for either of the services below. Thread-safe. `server` must outlive it.
class ControlBackend {
 public:
  ControlBackend(const ServerConfig& config, PingServer& server) : config_(config), server_(server) {}

  // From now on, calls are answered; the server must have its addresses. Before, they are refused as UNAVAILABLE.
  void Open() { open_.store(true, std::memory_order_release); }
  // They are refused again, so that thousands that wait do not hold up the end.
  void Close() { open_.store(false, std::memory_order_release); }

  grpc::Status Describe(control::v1::ServerDescription& response) const;
  // `peer` is who asks, as grpc::ServerContext::peer() names it: that connection is left out of the sample, because it
  // carries nothing that is measured.
  grpc::Status Sample(const std::string& peer, const control::v1::SampleRequest& request,
                      control::v1::Sample& response);

 private:
  // Clients that measure ask twice in a window, 64 of them at once at most; more would be as many threads.
  static constexpr int kMaxSamples = 96;
  grpc::Status NotYet() const;
  std::vector<OpenConnection> MeasuredConnections(const std::string& peer);

  const ServerConfig config_;
  const std::string instance_ = absl::StrCat(absl::Hex(std::random_device()(), absl::kZeroPad8),
                                             absl::Hex(std::random_device()(), absl::kZeroPad8));
  const GrpcBuild grpc_build_ = DescribeGrpcBuild();
  PingServer& server_;
  std::atomic<bool> open_{false};
  CallLimit samples_{kMaxSamples};
  SampleBudget budget_;
  std::atomic<uint64_t> counted_from_{0};  // messages when counting allocations began
  std::mutex mutex_;
  std::set<std::string> control_peers_;  // guarded by mutex_; those whose connection lives
};

// A synchronous service in a server of completion queues waits on a queue of its own that polls nothing.
class ControlService final : public control::v1::Control::Service {
 public:
  explicit ControlService(ControlBackend* backend) : backend_(backend) {}
  grpc::Status Describe(grpc::ServerContext* /*context*/, const control::v1::DescribeRequest* /*request*/,
                        control::v1::ServerDescription* response) override {
    return backend_->Describe(*response);
  }
  grpc::Status Sample(grpc::ServerContext* context, const control::v1::SampleRequest* request,
                      control::v1::Sample* response) override {
    return backend_->Sample(context->peer(), *request, *response);
  }

 private:
  ControlBackend* const backend_;
};

// For the callback server, so that no thread pool of the synchronous API comes into it. A sample takes a millisecond or
// so of one of the library's threads.
class CallbackControlService final : public control::v1::Control::CallbackService {
 public:
  explicit CallbackControlService(ControlBackend* backend) : backend_(backend) {}
  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context,
                                     const control::v1::DescribeRequest* /*request*/,
                                     control::v1::ServerDescription* response) override {
    return Finished(context, backend_->Describe(*response));
  }
  grpc::ServerUnaryReactor* Sample(grpc::CallbackServerContext* context, const control::v1::SampleRequest* request,
                                   control::v1::Sample* response) override {
    return Finished(context, backend_->Sample(context->peer(), *request, *response));
  }

 private:
  static grpc::ServerUnaryReactor* Finished(grpc::CallbackServerContext* context, const grpc::Status& status) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }
  ControlBackend* const backend_;
};

}  // namespace cqbench
