// The part that the sync and the callback server share: the library runs the handlers on threads of its own.
#pragma once

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/server.h"
#include "src/server/limits/listener.h"
#include "src/server/services/control_service.h"
#include "src/server/services/reflection_service.h"
#include "src/server/services/service_load.h"
#include "src/server/services/service_times.h"
#include "src/server/services/services.h"
#include "src/server/services/shared_counts.h"
#include "src/workload/messages/write_options.h"

namespace cqbench {

// What handlers write to.
struct HandlerProbes {
  SharedCounts* counts;
  ServiceTimes* times;
  const ServiceLoad* load;
  MessageStrategy messages;          // where it is ours to choose
  grpc::WriteOptions write_options;  // of server-streaming calls, but their first and last message

  // When the request came, if this message is one of those that are timed.
  Nanos Arrival() const {
    thread_local uint32_t arrivals = 0;
    return times->Accepted(arrivals);
  }
};

// `Services` has Register(builder), StopServing() and kForced, and is constructed from HandlerProbes and
// ControlBackend*. kForced says which messages the library constructs for each call, whatever was asked for.
template <typename Services>
class LibraryThreadsServer final : public PingServer {
 public:
  static absl::StatusOr<std::unique_ptr<PingServer>> Start(
      const ServerConfig& config, const std::function<void(grpc::ServerBuilder&)>& configure_more) {
    std::unique_ptr<LibraryThreadsServer> self(new LibraryThreadsServer(config));
    grpc::ServerBuilder builder;
    std::vector<int> ports;
    ConfigureBuilder(config, builder, ports);
    configure_more(builder);
    self->services_.Register(builder);
    builder.RegisterService(&self->reflection_);
    auto running = BuildServer(config, builder, ports);
    if (!running.ok()) return running.status();
    self->server_ = std::move(running->server);
    self->listening_ = std::move(running->listening);
    if (auto* health = self->server_->GetHealthCheckService()) {  // the library's own knows no services by itself
      for (const std::string& name : ServiceNames()) health->SetServingStatus(name, true);
    }
    self->control_.Open();
    return self;
  }

  ~LibraryThreadsServer() override { LibraryThreadsServer::Shutdown(); }

  void Shutdown() override {
    if (server_ == nullptr || std::exchange(is_shut_down_, true)) return;
    services_.StopServing();
    control_.Close();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::nanoseconds(config_.drain_ns));
    server_->Wait();
  }
  ServerCounts Counts() const override { return counts_.Read(); }
  std::string MessagesNote() const override {
    return config_.messages == MessageStrategy::kFresh ? "" : absl::StrCat("fresh in the library: ", Services::kForced);
  }
  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) override {
    return server_->InProcessChannel(arguments);
  }

 private:
  explicit LibraryThreadsServer(const ServerConfig& config)
      : PingServer(config),
        config_(config),
        control_(config, *this),
        services_({&counts_, &times(), &load(), config.messages, WriteOptionsFor(config.write_hint)}, &control_) {}

  const ServerConfig config_;
  SharedCounts counts_;
  ControlBackend control_;
  Services services_;
  ReflectionService reflection_{ListedServices()};
  std::unique_ptr<grpc::Server> server_;
  bool is_shut_down_ = false;
};

}  // namespace cqbench
