// A server of completion queues, for any set of call types: the cq server and the generic server are two such sets.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cqbench/server.h"
#include "src/channel/poll.h"
#include "src/server/apis/cq_call.h"
#include "src/server/apis/recycler.h"
#include "src/server/limits/listener.h"
#include "src/server/services/control_service.h"
#include "src/server/services/health_service.h"
#include "src/server/services/reflection_service.h"
#include "src/server/services/service_load.h"
#include "src/server/services/service_times.h"
#include "src/server/services/services.h"
#include "src/workload/messages/write_options.h"

namespace cqbench {

// Written by one thread, read by any: no read-modify-write.
class Counter {
 public:
  void operator++() { n_.store(Read() + 1, std::memory_order_relaxed); }
  uint64_t Read() const { return n_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> n_{0};
};

// `Services` is what calls are requested from: constructed from the ServerConfig; Register(builder). Each of `Calls` is
// a ServerEvent, constructed from how its messages are to live, with
//   template <typename Thread> void Post(Thread&);           requests one call
//   template <typename Thread> void Step(Thread&, bool ok);  takes the events of that call, in order
// The thread given is the one that runs it; it offers services(), queue(), times(), Arrival(), Spend(), Accepted(),
// Responded() and Ended().
template <typename Services, typename... Calls>
class CqServer final : public PingServer {
  // True if all requests are posted; until the first call comes one request is. A library without NDEBUG, such as
  // Debian's, looks for each event's tag among all that are outstanding on the queue (cq_check_tag), and would look
  // through those of methods that nobody calls.
  template <typename Call>
  struct InUse {
    std::atomic<bool> yes{false};
  };
  struct Queue {
    Queue(std::unique_ptr<grpc::ServerCompletionQueue> of, const ServerConfig& config)
        : queue(std::move(of)),
          to_post(config.callbacks_per_cq),
          depots((static_cast<void>(sizeof(Calls)), config.messages)...) {}
    std::unique_ptr<grpc::ServerCompletionQueue> queue;
    const int to_post;  // of each call that is in use
    std::tuple<CallDepot<Calls>...> depots;
    std::tuple<InUse<Calls>...> in_use;
  };

 public:
  // One thread of one queue.
  class alignas(64) QueueThread {
   public:
    QueueThread(Services* services, Queue* queue, ServiceTimes* times, const ServiceLoad* load, WriteHint hint)
        : write_options_(WriteOptionsFor(hint)),
          services_(services),
          queue_(queue),
          times_(times),
          load_(load),
          stocks_(&std::get<CallDepot<Calls>>(queue->depots)...) {}

    Services& services() { return *services_; }
    ServiceTimes& times() { return *times_; }
    void Spend() const { load_->Spend(); }
    // For server-streaming calls, but their last message. The first has no hint: the headers go with it, and nothing
    // would go out, or end, if they waited (gRPC 1.51.1).
    grpc::WriteOptions write_options(bool first) const { return first ? grpc::WriteOptions() : write_options_; }
    // When the request came, if this call is one of those that are timed.
    Nanos Arrival() { return times_->Accepted(arrivals_); }
    grpc::ServerCompletionQueue* queue() { return queue_->queue.get(); }

    template <typename Call>
    void Post() {
      ++posts_;
      std::get<CallStock<Call>>(stocks_).Take()->Post(*this);
    }
    // First thing when a call has taken its posted request: posts another in its place, so that the number of posted
    // requests stays what was asked for.
    template <typename Call>
    void Accepted(Call* /*call*/) {
      ++started_;
      Post<Call>();
      std::atomic<bool>& in_use = std::get<InUse<Call>>(queue_->in_use).yes;
      if (in_use.load(std::memory_order_relaxed)) return;
      if (in_use.exchange(true, std::memory_order_relaxed)) return;
      for (int n = 1; n < queue_->to_post; ++n) Post<Call>();
    }
    void Responded() { ++messages_; }
    // Last thing: the object may be another call when this returns.
    template <typename Call>
    void Ended(Call* call, bool ok) {
      if (ok) ++ok_;
      std::get<CallStock<Call>>(stocks_).Put(call);
    }

    // The library aborts when an operation is started on a queue that has been shut down. So the thread says that it is
    // about to step, then looks whether stepping has ended; EndSteps() says the opposite and then waits. Both orders
    // are sequentially consistent: one uncontended exchange per event.
    void Run(PollMode poll) {
      DrainQueue(*queue_->queue, poll, [this](void* tag, bool ok) {
        auto* const event = static_cast<ServerEvent*>(tag);
        stepping_.store(true);
        if (!ended_.load() || event->is_last()) event->Run(this, ok);
        stepping_.store(false, std::memory_order_release);
      });
    }
    // From the thread that shuts down: when it returns, this one starts nothing any more, it only empties the queue,
    // and counts the calls whose end is in it.
    void EndSteps() {
      ended_.store(true);
      while (stepping_.load()) std::this_thread::yield();
    }
    ServerCounts Counts() const { return {started_.Read(), ok_.Read(), 0, messages_.Read()}; }
    int64_t Posted() const { return static_cast<int64_t>(posts_.Read()) - static_cast<int64_t>(started_.Read()); }
    bool IsOf(const Queue& queue) const { return queue_ == &queue; }

   private:
    const grpc::WriteOptions write_options_;
    Services* const services_;
    Queue* const queue_;
    ServiceTimes* const times_;
    const ServiceLoad* const load_;
    std::tuple<CallStock<Calls>...> stocks_;
    Counter posts_, started_, ok_, messages_;
    uint32_t arrivals_ = 0;
    std::atomic<bool> stepping_{false};
    std::atomic<bool> ended_{false};
  };

  static absl::StatusOr<std::unique_ptr<PingServer>> Start(const ServerConfig& config) {
    std::unique_ptr<CqServer> server(new CqServer(config));
    if (const absl::Status status = server->Build(); !status.ok()) return status;
    server->PostFirst();
    server->StartThreads();  // may throw: then the destructor ends what runs
    server->control_.Open();
    return server;
  }

  ~CqServer() override { CqServer::Shutdown(); }

  void Shutdown() override {
    if (std::exchange(is_shut_down_, true)) return;
    health_.StopServing();
    control_.Close();
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + std::chrono::nanoseconds(config_.drain_ns));
    for (QueueThread& thread : queue_threads_) thread.EndSteps();
    for (Queue& queue : queues_) queue.queue->Shutdown();
    for (std::thread& thread : threads_) thread.join();
    // Some queues' threads may not have been made. A queue must be empty before it dies.
    for (Queue& queue : queues_) DrainQueue(*queue.queue, PollMode::kBlock, [](void* /*tag*/, bool /*ok*/) {});
  }

  ServerCounts Counts() const override {
    ServerCounts total;
    for (const QueueThread& thread : queue_threads_) {
      const ServerCounts counts = thread.Counts();
      total.calls_started += counts.calls_started;
      total.calls_ok += counts.calls_ok;
      total.messages += counts.messages;
    }
    // Calls that shutting down cut off have no end of their own.
    total.calls_failed = total.calls_started - total.calls_ok;
    return total;
  }

  std::vector<uint64_t> MessagesPerQueue() const override {
    std::vector<uint64_t> messages;
    for (const Queue& queue : queues_) {
      uint64_t& sum = messages.emplace_back(0);
      for (const QueueThread& thread : queue_threads_) sum += thread.IsOf(queue) ? thread.Counts().messages : 0;
    }
    return messages;
  }

  std::optional<int64_t> PostedRequests() const override {
    int64_t posted = 0;
    for (const QueueThread& thread : queue_threads_) posted += thread.Posted();
    return posted;
  }

  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) override {
    return server_->InProcessChannel(arguments);
  }

 private:
  explicit CqServer(const ServerConfig& config)
      : PingServer(config), config_(config), services_(config), control_(config, *this) {}

  absl::Status Build() {
    grpc::ServerBuilder builder;
    std::vector<int> ports;
    ConfigureBuilder(config_, builder, ports);
    services_.Register(builder);
    builder.RegisterService(&health_);
    builder.RegisterService(&control_service_);
    builder.RegisterService(&reflection_);
    for (int i = 0; i < config_.num_cqs; ++i) queues_.emplace_back(builder.AddCompletionQueue(), config_);
    auto running = BuildServer(config_, builder, ports);
    if (!running.ok()) return running.status();
    server_ = std::move(running->server);
    listening_ = std::move(running->listening);
    for (Queue& queue : queues_) {
      for (int i = 0; i < config_.workers_per_cq; ++i)
        queue_threads_.emplace_back(&services_, &queue, &times(), &load(), config_.write_hint);
    }
    return absl::OkStatus();
  }

  // One of each, through the first thread of each queue, before any thread runs.
  void PostFirst() {
    for (size_t i = 0; i < queue_threads_.size(); i += static_cast<size_t>(config_.workers_per_cq)) {
      (queue_threads_[i].template Post<Calls>(), ...);
    }
  }

  void StartThreads() {
    for (QueueThread& thread : queue_threads_) {
      const std::string name = "server-cq-" + std::to_string(threads_.size());
      threads_.emplace_back([this, &thread] { thread.Run(config_.poll); });
      pthread_setname_np(threads_.back().native_handle(), name.substr(0, 15).c_str());
    }
  }

  const ServerConfig config_;
  Services services_;
  HealthService health_{ServiceNames()};
  ReflectionService reflection_{ListedServices()};
  ControlBackend control_;
  ControlService control_service_{&control_};
  std::deque<Queue> queues_;  // calls die before their queue, queues after the server
  std::unique_ptr<grpc::Server> server_;
  std::deque<QueueThread> queue_threads_;
  std::vector<std::thread> threads_;
  bool is_shut_down_ = false;
};

}  // namespace cqbench
