#include "src/http/client/http_engine.h"

#include <poll.h>
#include <sys/eventfd.h>
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
#include "src/base/endpoint.h"
#include "src/http/client/http_code.h"
#include "src/http/client/http_loop.h"
#include "src/http/client/http_socket.h"
#include "src/load/pacing/engine_context.h"
#include "src/load/pacing/gated_threads.h"
#include "src/load/pacing/pacer.h"
#include "src/load/pacing/slot_engine.h"

namespace cqbench {
namespace {

constexpr Nanos kLook = 10 * kNanosPerMilli;  // at what nobody tells us of
constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kConnectAtOnce = 64;  // fewer than a listener's backlog

template <typename Wire>
class HttpEngine final : public SlotEngine<WireSlot<Wire>> {
  using Slot = WireSlot<Wire>;
  using Link = Connection<Wire>;
  using MyRoute = Route<Wire>;
  using MyLoop = Loop<Wire>;
  using Next = SlotSchedule::Next;

 public:
  // `endpoints`: of each of config.targets.
  HttpEngine(const EngineContext& context, const ChannelPlan& plan, const std::vector<Endpoint>& endpoints, int loops)
      : SlotEngine<Slot>(context) {
    for (const Target& target : this->config().targets) {
      messages_.emplace_back(*this->config().http, target.is_unix() ? "localhost" : target.ToString(),
                             this->config().metadata);
    }
    for (int i = 0; i < loops; ++i) {
      MyLoop& loop = loops_.emplace_back(&this->window(), this->open_loop());
      loop.epoll = Descriptor(epoll_create1(EPOLL_CLOEXEC));
      loop.wake = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      if (this->open_loop()) loop.lane = &this->lanes()[static_cast<size_t>(i)];
    }
    MakeConnections(plan, endpoints);
  }
  ~HttpEngine() override { this->Stop(); }

  // All connections, some at a time. Errors as Reachable() has them.
  absl::Status Connect(const ConnectLimit& limit) {
    std::vector<Link*> links;
    for (MyLoop& loop : loops_) {
      if (!loop.epoll.ok() || !loop.wake.ok()) return absl::ResourceExhaustedError("no descriptors are left");
      Watch(loop.epoll.fd(), EPOLL_CTL_ADD, loop.wake.fd(), EPOLLIN, kWake);
      for (Link& link : loop.connections) links.push_back(&link);
    }
    for (size_t begun = 0, i = 0; i < links.size(); ++i) {
      for (; begun < std::min(i + kConnectAtOnce, links.size()); ++begun) {
        const MyRoute& route = *links[begun]->route;
        links[begun]->socket = BeginHttpConnect(route.endpoint);
        if (!links[begun]->socket.ok()) return NotConnected(route.target, this->config(), errno);
      }
      Link& link = *links[i];
      const int error = FinishHttpConnect(link.socket, limit);
      if (error != 0) return NotConnected(link.route->target, this->config(), error);
      Watch(link.route->loop->epoll.fd(), EPOLL_CTL_ADD, link.socket.fd(), EPOLLIN, link.index);
    }
    return absl::OkStatus();
  }
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
  uint64_t Completed() const override {
    uint64_t total = 0;
    for (const MyLoop& loop : loops_) total += loop.recorder.Completed();
    return total;
  }
  uint64_t CompletedBefore() const override {
    uint64_t total = 0;
    for (const MyLoop& loop : loops_) total += loop.recorder.CompletedBefore();
    return total;
  }
  void Collect(Measurement& total) const override {
    for (const MyLoop& loop : loops_) loop.recorder.MergeInto(total);
    this->CollectSlots(total);
    if (total.pacing) total.pacing->pacers = threads();
  }

 private:
  static constexpr uint32_t kWake = UINT32_MAX;

  // Slots of one connection are of one thread, so nothing is locked on the way of a call.
  void MakeConnections(const ChannelPlan& plan, const std::vector<Endpoint>& endpoints) {
    std::vector<MyRoute*> of_channel, of_host(endpoints.size(), nullptr);
    size_t made = 0;
    for (const ChannelPlan::Channel& channel : plan.channels) {
      const auto host = static_cast<size_t>(channel.host);
      const bool own = channel.local_pool || channel.distinguishing_value >= 0;
      if (own || of_host[host] == nullptr) {
        MyLoop& loop = loops_[made++ % loops_.size()];
        of_host[host] =
            &loop.routes.emplace_back(&loop, this->config().targets[host], messages_[host], endpoints[host]);
        of_host[host]->current = &AddConnection(*of_host[host]);
      }
      of_channel.push_back(of_host[host]);
    }
    for (Slot& slot : this->slots()) {
      slot.route = of_channel[static_cast<size_t>(slot.index) % of_channel.size()];
      slot.route->slots.push_back(&slot);
      slot.route->loop->slots.push_back(&slot);
    }
  }
  static Link& AddConnection(MyRoute& route) {
    std::deque<Link>& all = route.loop->connections;
    return *route.connections.emplace_back(&all.emplace_back(&route, route.message, static_cast<uint32_t>(all.size())));
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
        if (event.data.u32 == kWake) continue;
        OnEvent(loop.connections[event.data.u32], loop, event.events, buffer);
      }
      if (loop.has_rested.load(std::memory_order_relaxed)) [[unlikely]]
        SendRested(loop);
      if (loop.lane != nullptr) {
        SendDue(*loop.lane, loop.next, clock, this->config().schedule.at_limit, this->window(), loop.recorder,
                [&](FreeNode* node, Nanos due, Nanos now) {
                  Slot& slot = static_cast<Slot&>(*static_cast<CallSlot*>(node));
                  slot.due_ns = due;
                  Send(slot, loop, now);
                });
      }
      if (const Nanos now = NowNs(); now >= loop.next_look) Look(loop, now);
    }
  }

  int Wait(MyLoop& loop, std::array<epoll_event, 64>& events) {
    int timeout_ms = static_cast<int>(kLook / kNanosPerMilli);
    if (loop.lane != nullptr && loop.next < loop.lane->size()) {
      SleepUntilDue(loop);
      timeout_ms = 0;
    }
    return epoll_wait(loop.epoll.fd(), events.data(), static_cast<int>(events.size()), timeout_ms);
  }
  // Or until something has come. By poll(), as epoll's own waiting is in milliseconds everywhere but in new kernels.
  void SleepUntilDue(MyLoop& loop) {
    const Pace pace = this->config().schedule.pace;
    if (pace == Pace::kSpin) return;
    const Nanos due = loop.lane->DueAt(loop.next) - (pace == Pace::kHybrid ? this->margin_ns() : 0);
    const Nanos wait = std::min(due - NowNs(), kLook);
    if (wait <= 0) return;
    const timespec timeout{0, wait};
    pollfd one{loop.epoll.fd(), POLLIN, 0};
    ppoll(&one, 1, &timeout, nullptr);
  }

  // The slot is ready, or has ended a call: what follows by the schedule.
  [[gnu::always_inline]] void Continue(Slot& slot, MyLoop& loop, Nanos done, bool ok) {
    switch (this->schedule().After(slot, done, ok, loop.recorder)) {
      case Next::kSend:
        return Send(slot, loop, done);
      case Next::kWait:
        return;
      case Next::kEnd:
        return this->Retire();
    }
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
    while (link.written < link.out.size()) {
      const ssize_t count = send(link.socket.fd(), link.out.data() + link.written, link.out.size() - link.written,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0) {
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return Drop(link, loop, absl::StrCat("cannot send: ", std::strerror(errno)));
        return WatchFor(link, loop, /*room=*/true);
      }
      link.written += static_cast<size_t>(count);
    }
    link.out.clear();
    link.written = 0;
  }
  void WatchFor(Link& link, MyLoop& loop, bool room) {
    link.connecting = room;
    Watch(loop.epoll.fd(), EPOLL_CTL_MOD, link.socket.fd(), room ? EPOLLIN | EPOLLOUT : EPOLLIN, link.index);
  }

  void OnEvent(Link& link, MyLoop& loop, uint32_t events, std::vector<char>& buffer) {
    if (!link.socket.ok()) return;  // dropped since this was told
    if ((events & EPOLLOUT) != 0) {
      WatchFor(link, loop, /*room=*/false);
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
      link.route->current = &Unused(*link.route);
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
    link.socket.Close();
    link.wire.Reset();
    link.out.clear();
    link.written = 0;
    link.connecting = false;
    for (Slot* slot : link.route->slots) {
      if (slot->connection != &link || !std::exchange(slot->in_flight, false)) continue;
      Fail(*slot, loop, grpc::StatusCode::UNAVAILABLE, why);
    }
  }
  // A connection without a socket: the next call makes it one.
  static Link& Unused(MyRoute& route) {
    for (Link* link : route.connections) {
      if (!link->socket.ok()) return *link;
    }
    return AddConnection(route);
  }
  void Reconnect(Link& link, MyLoop& loop) {
    link.socket = BeginHttpConnect(link.route->endpoint);
    if (!link.socket.ok()) return;  // Write() says so
    link.connecting = true;
    Watch(loop.epoll.fd(), EPOLL_CTL_ADD, link.socket.fd(), EPOLLIN | EPOLLOUT, link.index);
  }

  void Look(MyLoop& loop, Nanos now) {
    loop.next_look = now + kLook;
    uint64_t told = 0;
    while (read(loop.wake.fd(), &told, sizeof(told)) > 0) continue;
    if (this->abandoned()) {
      for (size_t i = 0; i < loop.connections.size(); ++i) Drop(loop.connections[i], loop, "cancelled");
    } else if (this->config().deadline_ns && now >= loop.next_late) {
      EndLate(loop, now);
      loop.next_late = now + *this->config().deadline_ns / 20;
    }
    if (loop.lane == nullptr || !this->schedule().Over(now)) return;
    while (loop.lane->TakeIdleSlot() != nullptr) this->Retire();
  }
  void EndLate(MyLoop& loop, Nanos now) {
    for (Slot* slot : loop.slots) {
      if (!slot->in_flight || now - slot->sent() < *this->config().deadline_ns) continue;
      slot->in_flight = false;
      if (slot->connection->wire.Abandon(*slot)) {
        MarkDirty(*slot->connection, loop);
      } else {
        Drop(*slot->connection, loop, "another call was late");
      }
      Fail(*slot, loop, grpc::StatusCode::DEADLINE_EXCEEDED, "no answer within the deadline");
    }
  }

  void SendRested(MyLoop& loop) {
    std::vector<Slot*> rested;
    {
      const std::lock_guard lock(loop.mutex);
      rested.swap(loop.rested);
      loop.has_rested.store(false, std::memory_order_relaxed);
    }
    for (Slot* slot : rested) Send(*slot, loop, slot->due_ns);
  }
  // On the runner's thread.
  void Resume(Slot& slot) override {
    MyLoop& loop = *slot.route->loop;
    {
      const std::lock_guard lock(loop.mutex);
      loop.rested.push_back(&slot);
      loop.has_rested.store(true, std::memory_order_relaxed);
    }
    const uint64_t one = 1;
    (void)!write(loop.wake.fd(), &one, sizeof(one));
  }

  std::deque<HttpMessage> messages_;  // by target
  std::deque<MyLoop> loops_;
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

absl::StatusOr<std::unique_ptr<Engine>> MakeHttpEngine(const EngineContext& context, const ChannelPlan& plan,
                                                       const std::function<bool()>& stop) {
  return context.config.api == ClientApi::kHttp1 ? Make<Http1Wire>(context, plan, stop)
                                                 : Make<Http2Wire>(context, plan, stop);
}

}  // namespace

EngineFactory HttpEngines() {
  return {Threads, MakeHttpEngine};
}

}  // namespace cqbench
