#include "src/http/client/http_engine.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cqbench/channel_policy.h"
#include "src/base/sockets.h"
#include "src/http/client/http_code.h"
#include "src/http/client/http_connections.h"
#include "src/http/client/http_loop.h"
#include "src/http/client/http_socket.h"
#include "src/load/pacing/engine_context.h"
#include "src/load/pacing/gated_threads.h"
#include "src/load/pacing/pacer.h"
#include "src/load/pacing/slot_engine.h"

namespace cqbench {
namespace {

constexpr Nanos kCheck = 10 * kNanosPerMilli;  // of deadlines, cancelling and the end
constexpr size_t kReadBytes = 64 << 10;

template <typename Wire>
class HttpEngine final : public SlotEngine<WireSlot<Wire>> {
  using Slot = WireSlot<Wire>;
  using Link = Connection<Wire>;
  using MyRoute = Route<Wire>;
  using MyLoop = Loop<Wire>;

 public:
  // `endpoints`: of each of config.targets.
  HttpEngine(const EngineContext& context, const ChannelPlan& plan, const std::vector<Endpoint>& endpoints, int loops)
      : SlotEngine<Slot>(context), connections_(this->config(), plan, endpoints, MakeLoops(loops)) {
    for (Slot& slot : this->slots()) {
      connections_.Assign(slot);
      if (this->open_loop()) this->Assign(slot, *slot.route->loop->queue);
    }
  }
  ~HttpEngine() override { this->Stop(); }

  absl::Status Connect(const ConnectLimit& limit) { return connections_.Connect(limit); }
  // Once, after Connect().
  void MakeThreads() {
    threads_.emplace(threads(), "http-", [this](int i) { Run(loops_[static_cast<size_t>(i)]); });
  }

  void Start() override {
    this->Begin();
    threads_->Release();
  }
  void Join() override {
    if (threads_) threads_->Join();
    this->Joined();
  }
  int threads() const override { return static_cast<int>(loops_.size()); }
  void VisitRecorders(const RecorderVisitor& visit) const override {
    for (const MyLoop& loop : loops_) visit(loop.recorder);
  }

 private:
  std::deque<MyLoop>& MakeLoops(int loops) {
    for (int i = 0; i < loops; ++i) {
      loops_.emplace_back(&this->window(), this->open_loop() ? &this->arrivals()[static_cast<size_t>(i)] : nullptr);
    }
    return loops_;
  }

  // --- a loop's thread ---

  void Run(MyLoop& loop) {
    const PacerClock clock(this->config().schedule.pace, this->margin_ns());
    std::array<epoll_event, 64> events;
    std::vector<char> buffer(kReadBytes);
    for (Slot* slot : loop.slots) {
      slot->due_ns = NowNs();
      Continue(*slot, loop, NowNs(), /*ok=*/true);
    }
    while (!this->Finished()) {
      Flush(loop);
      const int count = Wait(loop, events);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        if (event.data.u32 == MyLoop::kWake) continue;
        OnEvent(loop.connections[event.data.u32], loop, event.events, buffer);
      }
      if (loop.has_resumed.load(std::memory_order_relaxed)) [[unlikely]]
        SendResumed(loop);
      if (loop.queue != nullptr) {
        SendDue(*loop.queue, loop.next, clock, this->config().schedule.at_limit, this->window(), loop.recorder,
                [&](FreeNode* node, Nanos due, Nanos now) {
                  Slot& slot = static_cast<Slot&>(*static_cast<CallSlot*>(node));
                  slot.due_ns = due;
                  Send(slot, loop, now);
                });
      }
      if (const Nanos now = NowNs(); now >= loop.next_check) Check(loop, now);
    }
  }

  int Wait(MyLoop& loop, std::array<epoll_event, 64>& events) {
    int timeout_ms = static_cast<int>(kCheck / kNanosPerMilli);
    if (loop.queue != nullptr && loop.next < loop.queue->size()) {
      SleepUntilDue(loop);
      timeout_ms = 0;
    }
    return epoll_wait(loop.epoll.fd(), events.data(), static_cast<int>(events.size()), timeout_ms);
  }
  // Or until something has come. By poll(), as epoll's own waiting is in milliseconds everywhere but in new kernels.
  void SleepUntilDue(MyLoop& loop) {
    const Pace pace = this->config().schedule.pace;
    if (pace == Pace::kSpin) return;
    const Nanos due = loop.queue->DueAt(loop.next) - (pace == Pace::kHybrid ? this->margin_ns() : 0);
    const Nanos wait = std::min(due - NowNs(), kCheck);
    if (wait <= 0) return;
    const timespec timeout{0, wait};
    pollfd one{loop.epoll.fd(), POLLIN, 0};
    ppoll(&one, 1, &timeout, nullptr);
  }

  [[gnu::always_inline]] void Continue(Slot& slot, MyLoop& loop, Nanos done, bool ok) {
    if (this->SendsNext(slot, done, ok, loop.recorder)) Send(slot, loop, done);
  }

  void Send(Slot& slot, MyLoop& loop, Nanos now) {
    Link& link = *(slot.connection = slot.route->current);
    slot.Sent(now);
    loop.recorder.Sent(slot.due_ns);
    slot.in_flight = true;
    if (!link.socket.ok()) [[unlikely]]
      Reconnect(link, loop);
    link.wire.Submit(slot, link.out);
    MarkDirty(link, loop);
  }

  void MarkDirty(Link& link, MyLoop& loop) {
    if (!std::exchange(link.dirty, true)) loop.dirty.push_back(&link);
  }

  // Once per turn and connection, however many calls go out together.
  void Flush(MyLoop& loop) {
    while (!loop.dirty.empty()) {  // a connection that breaks may make others dirty, or itself again
      Link& link = *loop.dirty.back();
      loop.dirty.pop_back();
      link.dirty = false;
      if (!link.connecting) Write(link, loop);
    }
  }
  void Write(Link& link, MyLoop& loop) {
    if (!link.socket.ok()) return Drop(link, loop, absl::StrCat("cannot connect: ", std::strerror(errno)));
    loop.ended.clear();
    link.wire.Pull(link.out, loop.ended);
    if (!loop.ended.empty()) [[unlikely]] {
      MarkEnded(loop);
      EndCalls(loop, NowNs());
    }
    if (link.wire.closing()) return Drop(link, loop, "the server ended the connection, or does not speak this HTTP");
    const int error = link.SendAll();
    if (error == EAGAIN) {
      link.WatchFor(loop.epoll, EPOLL_CTL_MOD, /*room=*/true);
    } else if (error != 0) {
      Drop(link, loop, absl::StrCat("cannot send: ", std::strerror(error)));
    }
  }

  void OnEvent(Link& link, MyLoop& loop, uint32_t events, std::vector<char>& buffer) {
    if (!link.socket.ok()) return;  // dropped since this was told
    if ((events & EPOLLOUT) != 0) {
      link.WatchFor(loop.epoll, EPOLL_CTL_MOD, /*room=*/false);
      MarkDirty(link, loop);
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    const ssize_t count = recv(link.socket.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;  // epoll reports it again
    if (count < 0) return Drop(link, loop, std::strerror(errno));
    if (count == 0) return Drop(link, loop, "the server closed the connection");
    loop.ended.clear();
    const std::string error = link.wire.Feed({buffer.data(), static_cast<size_t>(count)}, loop.ended);
    const Nanos done = NowNs();
    MarkEnded(loop);
    if (link.wire.takes_no_more() && &link == link.route->current) [[unlikely]]
      link.route->current = &link.route->Unused();
    if (!error.empty()) {
      Drop(link, loop, error);
    } else if (link.wire.closing()) {
      Drop(link, loop, "the server closed the connection");
    } else {
      MarkDirty(link, loop);  // the protocol itself may have to answer
    }
    EndCalls(loop, done);
  }
  // Before a connection is dropped: those that have ended do not fail with it.
  static void MarkEnded(MyLoop& loop) {
    for (const HttpEnded& one : loop.ended) static_cast<Slot*>(one.slot)->in_flight = false;
  }
  void EndCalls(MyLoop& loop, Nanos done) {
    for (const HttpEnded& one : loop.ended) OnEnd(*static_cast<Slot*>(one.slot), loop, done, one);
  }

  void OnEnd(Slot& slot, MyLoop& loop, Nanos done, const HttpEnded& end) {
    const int status = end.status;
    if (status >= 200 && status < 300) [[likely]] {
      const std::string& expected = this->config().http->expected;
      const bool right = slot.body.Right(expected);
      this->RecordResponse(loop.recorder, slot, done, right ? std::string() : slot.body.Fault(expected));
      return Continue(slot, loop, done, /*ok=*/true);
    }
    if (end.refused) {
      return Fail(slot, loop, grpc::StatusCode::UNAVAILABLE,
                  "the server refused the call (GOAWAY, or RST_STREAM REFUSED_STREAM)");
    }
    if (status == 0) return Fail(slot, loop, grpc::StatusCode::UNAVAILABLE, "the server reset the stream");
    Fail(slot, loop, CodeOf(status), absl::StrCat("HTTP status ", status));
  }
  void Fail(Slot& slot, MyLoop& loop, grpc::StatusCode code, absl::string_view message) {
    const Nanos now = NowNs();
    this->RecordFailure(loop.recorder, slot, now, code, message);
    Continue(slot, loop, now, /*ok=*/false);
  }

  // The connection is of no use any more, and what is in flight there has failed. The next call makes a new one.
  void Drop(Link& link, MyLoop& loop, const std::string& why) {
    link.Reset();
    for (Slot* slot : link.route->slots) {
      if (slot->connection != &link || !std::exchange(slot->in_flight, false)) continue;
      Fail(*slot, loop, grpc::StatusCode::UNAVAILABLE, why);
    }
  }
  void Reconnect(Link& link, MyLoop& loop) {
    link.socket = BeginConnect(link.route->endpoint);
    if (!link.socket.ok()) return;  // Write() says so
    link.WatchFor(loop.epoll, EPOLL_CTL_ADD, /*room=*/true);
  }

  void Check(MyLoop& loop, Nanos now) {
    loop.next_check = now + kCheck;
    uint64_t told = 0;
    while (read(loop.wake.fd(), &told, sizeof(told)) > 0) continue;
    if (this->abandoned()) {
      for (size_t i = 0; i < loop.connections.size(); ++i) Drop(loop.connections[i], loop, "cancelled");
    } else if (this->config().deadline_ns && now >= loop.next_deadlines) {
      EndMissed(loop, now);
      loop.next_deadlines = now + *this->config().deadline_ns / 20;
    }
    if (loop.queue == nullptr || !this->schedule().Over(now)) return;
    while (loop.queue->TakeIdleSlot() != nullptr) this->Retire();
  }
  void EndMissed(MyLoop& loop, Nanos now) {
    for (Slot* slot : loop.slots) {
      if (!slot->in_flight || now - slot->sent() < *this->config().deadline_ns) continue;
      slot->in_flight = false;
      if (slot->connection->wire.Abandon(*slot)) {
        MarkDirty(*slot->connection, loop);
      } else {
        Drop(*slot->connection, loop, "another call missed its deadline");
      }
      Fail(*slot, loop, grpc::StatusCode::DEADLINE_EXCEEDED, "no response within the deadline");
    }
  }

  void SendResumed(MyLoop& loop) {
    std::vector<Slot*> resumed;
    {
      const std::lock_guard lock(loop.mutex);
      resumed.swap(loop.resumed);
      loop.has_resumed.store(false, std::memory_order_relaxed);
    }
    for (Slot* slot : resumed) Send(*slot, loop, slot->due_ns);
  }
  // On the runner's thread.
  void Resume(Slot& slot) override {
    MyLoop& loop = *slot.route->loop;
    {
      const std::lock_guard lock(loop.mutex);
      loop.resumed.push_back(&slot);
      loop.has_resumed.store(true, std::memory_order_relaxed);
    }
    const uint64_t one = 1;
    (void)!write(loop.wake.fd(), &one, sizeof(one));
  }

  std::deque<MyLoop> loops_;
  HttpConnections<Wire> connections_;
  std::optional<GatedThreads> threads_;
};

template <typename Wire>
absl::StatusOr<std::unique_ptr<Engine>> Make(const EngineContext& context, const ChannelPlan& plan,
                                             const std::function<bool()>& stop) {
  const ConnectLimit limit{NowNs() + context.config.connect_timeout_ns, stop};
  std::vector<Endpoint> endpoints;
  for (const Target& target : context.config.targets) {
    auto endpoint = Reachable(target, context.config, limit);
    if (!endpoint.ok()) return endpoint.status();
    endpoints.push_back(*endpoint);
  }
  auto engine = std::make_unique<HttpEngine<Wire>>(context, plan, endpoints, context.threads);
  if (absl::Status connected = engine->Connect(limit); !connected.ok()) return connected;
  engine->MakeThreads();
  return engine;
}

int Threads(const ChannelPlan& plan, int wanted) {
  const auto channels = static_cast<int>(plan.channels.size());
  const int connections = plan.expected_connections;
  int threads = std::clamp(wanted, 1, connections);
  while (channels % threads != 0 || connections % threads != 0) --threads;
  return threads;
}

}  // namespace

absl::Status RegisterHttpEngines() {
  RegisterEngines(ClientApi::kHttp1, {Threads, Make<Http1Wire>});
  RegisterEngines(ClientApi::kHttp2, {Threads, Make<Http2Wire>});
  return absl::OkStatus();
}

}  // namespace cqbench
