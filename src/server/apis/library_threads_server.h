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
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/server.h"
#include "src/server/apis/call_steps.h"
#include "src/server/limits/listener.h"
#include "src/server/services/control_service.h"
#include "src/server/services/reflection_service.h"
#include "src/server/services/service_load.h"
#include "src/server/services/service_times.h"
#include "src/server/services/services.h"
#include "src/server/services/shared_counts.h"
#include "src/workload/messages/message_supply.h"
#include "src/workload/messages/write_options.h"

namespace cqbench {

// Handlers take their settings from here, and write times and counts.
struct HandlerProbes {
  SharedCounts* counts;
  ServiceTimes* service_times;
  const ServiceLoad* load;
  MessageStrategy messages;       // where it is ours to choose
  grpc::WriteOptions write_hint;  // of server-streaming calls, but their first and last message

  // When the request came, if this message is one of those that are timed.
  Nanos Arrival() const {
    thread_local uint32_t arrivals = 0;
    return service_times->Accepted(arrivals);
  }
  void Spend() const { load->Spend(); }
  void Responded() const { counts->Responded(); }
  ServiceTimes& times() const { return *service_times; }
  // The headers go with the first message, so that it has no hint.
  grpc::WriteOptions write_options(bool first) const { return first ? grpc::WriteOptions() : write_hint; }
};

// The one message of a call, which the library has made.
template <typename T>
class GivenMessage {
 public:
  explicit GivenMessage(T* message) : message_(message) {}
  T& Next() { return *message_; }
  T& Current() { return *message_; }

 private:
  T* const message_;
};
// A stream of M reads into RequestsOf<M> and writes from ResponsesOf<M>: made of a message that the library gives, or
// of a MessageStrategy.
template <typename M>
using RequestsOf = std::conditional_t<ReadsStream(M::kShape), MessageSupply<typename M::Request>,
                                      GivenMessage<const typename M::Request>>;
template <typename M>
using ResponsesOf = std::conditional_t<WritesStream(M::kShape), MessageSupply<typename M::Response>,
                                       GivenMessage<typename M::Response>>;

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
