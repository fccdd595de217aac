// The source post's client: a thread per slot that blocks in the synchronous API.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>

#include "src/load/engines/grpc_engine.h"
#include "src/load/engines/stub.h"
#include "src/load/engines/transfer.h"
#include "src/load/pacing/gated_threads.h"
#include "src/load/pacing/pacer.h"

namespace cqbench {
namespace {

// The stream that a slot of a bidi method keeps from message to message.
template <typename Stub, bool kBidi = Stub::kShape == Shape::kBidi>
struct KeptStream {
  using Pointer = std::nullptr_t;
};
template <typename Stub>
struct KeptStream<Stub, true> {
  using Pointer = decltype(std::declval<Stub&>().Call(static_cast<grpc::ClientContext*>(nullptr)));
};

template <typename Stub>
struct SyncSlot : GrpcSlot {
  Stub* stub = nullptr;
  std::optional<Recorder> recorder;
  std::optional<Requests<Stub>> requests;
  std::optional<MessageSupply<typename Stub::Response>> responses;
  typename KeptStream<Stub>::Pointer stream{};
};

// How a call ended: when that was seen, and what it says.
struct Ending {
  Nanos done = 0;
  grpc::Status status;
  absl::string_view wrong;
};

template <typename Stub>
class SyncEngine final : public GrpcEngine<SyncSlot<Stub>> {
  using Slot = SyncSlot<Stub>;
  using Response = typename Stub::Response;

 public:
  explicit SyncEngine(const EngineContext& context) : GrpcEngine<Slot>(context), stubs_(context) {
    for (Slot& slot : this->slots()) {
      slot.stub = stubs_.ForSlot(slot.index);
      slot.recorder.emplace(&this->window(), this->open_loop());
      slot.requests.emplace(this->config(), this->bytes(), slot.index);
      slot.responses.emplace(Stub::ResponsesFrom(this->config()));
    }
    threads_.emplace(context.load.slots, "sync-", [this](int i) { Run(this->slots()[static_cast<size_t>(i)]); });
  }
  ~SyncEngine() override { this->Stop(); }

  void Start() override {
    this->Begin();
    threads_->Release();
  }
  void Join() override {
    threads_->Join();
    this->Joined();
  }
  int threads() const override { return threads_->size(); }
  std::vector<std::vector<int>> ChannelsOfThread() const override {
    std::vector<std::vector<int>> channels;
    for (int i = 0; i < threads(); ++i) channels.push_back({stubs_.ChannelOf(i)});
    return channels;
  }
  void VisitRecorders(const RecorderVisitor& visit) const override {
    for (const Slot& slot : this->slots()) visit(*slot.recorder);
  }
  int pacers() const override { return 0; }

 private:
  // Issue, record, next.
  void Run(Slot& slot) {
    const PacerClock clock(this->config().schedule.pace, this->margin_ns());
    Ending end{NowNs(), grpc::Status::OK, {}};
    for (bool ok = true; Await(slot, clock, end.done, ok);) {
      slot.Sent(this->open_loop() ? NowNs() : slot.due_ns);
      slot.recorder->Sent(slot.due_ns);
      end = Exchange(slot);
      ok = this->RecordEnd(*slot.recorder, slot, end.done, end.status, end.wrong);
      slot.Sent(0);
      if (this->open_loop()) in_flight_.fetch_sub(1, std::memory_order_relaxed);
    }
    Close(slot);
  }

  // Until the slot's next call is due. False: there is none any more.
  bool Await(Slot& slot, const PacerClock& clock, Nanos done, bool ok) {
    if (this->open_loop()) return AwaitScheduled(slot, clock);
    slot.due_ns = done;
    if (!ok) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(kBackOffAfterFailure));
      slot.due_ns = NowNs();
    }
    return !this->window().IsOver(slot.due_ns) && !this->abandoned();
  }

  // Each thread takes the next due time and waits for it by itself. A call that is due before a thread takes it found
  // all of them busy.
  bool AwaitScheduled(Slot& slot, const PacerClock& clock) {
    ArrivalQueue& queue = this->arrivals().front();
    Recorder& recorder = *slot.recorder;
    for (size_t i = queue.TakeIndex(); i < queue.size(); i = queue.TakeIndex()) {
      const Nanos due = queue.DueAt(i);
      const bool busy = NowNs() > due;
      if (busy && this->config().schedule.at_limit == AtLimit::kDrop) {
        recorder.Dropped(due);
        continue;
      }
      if (!AwaitDue(clock, due, this->window(), queue)) {
        recorder.Unsent(due, NowNs());
        return false;
      }
      const Nanos now = NowNs();
      const auto waiting = static_cast<int64_t>(queue.DueBefore(now)) - static_cast<int64_t>(queue.Sent());
      const int64_t in_flight = in_flight_.fetch_add(1, std::memory_order_relaxed) + 1;
      recorder.SampledPacer(due, busy ? due : now, in_flight + std::max<int64_t>(waiting, 0));
      recorder.GotSlot(due, busy ? now - due : 0);
      slot.due_ns = due;
      return true;
    }
    return false;
  }

  // One call, or one message of a bidi stream. The response is checked after the end has been seen.
  Ending Exchange(Slot& slot) {
    if constexpr (Stub::kShape == Shape::kBidi) {
      return Ping(slot);
    } else {
      grpc::ClientContext* context = this->NewCall(slot);
      Response& response = slot.responses->Next();
      [[maybe_unused]] Transfer<Stub> transfer(*slot.stub, this->config(), this->bytes());
      Ending end;
      if constexpr (Stub::kShape == Shape::kUnary) {
        end.status = slot.stub->Call(context, slot.requests->Next(), &response);
      } else {
        end.status = Stream(slot, context, response, transfer);
      }
      end.done = NowNs();
      slot.gate.Leave();
      if constexpr (Stub::kShape == Shape::kUnary) {
        end.wrong = CheckResponse(*slot.stub, response, this->config().message);
        if (SaysNoMessage(end.status)) [[unlikely]]
          end.status = grpc::Status::OK;
      } else {
        end.wrong = transfer.WrongAtEnd(response);
      }
      return end;
    }
  }

  // The blocking unary call of generated code says that a call of status OK has no message by a status that also means
  // that there is no such method, and by these words.
  static bool SaysNoMessage(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
           status.error_message() == "No message returned for unary request";
  }

  // A client- or server-streaming call, whole.
  grpc::Status Stream(Slot& slot, grpc::ClientContext* context, Response& response, Transfer<Stub>& transfer) {
    const auto call = BeginCall(slot, context, response);
    if constexpr (kWrites<Stub>) {
      for (bool open = true; open && !transfer.written();) {
        const typename Stub::Request& request = slot.requests->Next(transfer.place());
        if (transfer.IsLastWrite()) {
          call->WriteLast(request, grpc::WriteOptions());
        } else {
          open = call->Write(request, options_);
        }
        if constexpr (Stub::kShape == Shape::kClientStreaming) transfer.Moved(*slot.recorder);
      }
    }
    if constexpr (kReads<Stub>) {
      while (call->Read(&response)) {
        if constexpr (Stub::kShape == Shape::kServerStreaming) transfer.Moved(*slot.recorder);
        transfer.Took(response);
      }
    }
    return call->Finish();
  }
  auto BeginCall(Slot& slot, grpc::ClientContext* context, Response& response) {
    if constexpr (Stub::kStream == Shape::kClientStreaming) {
      return slot.stub->Call(context, &response);
    } else if constexpr (Stub::kStream == Shape::kServerStreaming) {
      return slot.stub->Call(context, slot.requests->Next());
    } else {
      return slot.stub->Call(context, this->corked());
    }
  }

  // Opens the stream when there is none; one that breaks is gone.
  Ending Ping(Slot& slot) requires(Stub::kShape == Shape::kBidi) {
    if (!slot.stream) slot.stream = slot.stub->Call(this->NewStream(slot));
    Response& response = slot.responses->Next();
    bool ok = slot.stream->Write(slot.requests->Next());
    if (ok && this->IsTimed(slot)) slot.issued_ns = NowNs();
    ok = ok && slot.stream->Read(&response);
    Ending end{NowNs(), grpc::Status::OK, {}};
    if (ok) {
      end.wrong = CheckResponse(*slot.stub, response, this->config().message);
      return end;
    }
    end.status = slot.stream->Finish();
    if (end.status.ok()) end.status = {grpc::StatusCode::UNKNOWN, "the server ended the stream early, with status OK"};
    slot.gate.Leave();
    slot.stream.reset();
    return end;
  }

  void Close([[maybe_unused]] Slot& slot) override {
    if constexpr (Stub::kShape == Shape::kBidi) {
      if (slot.stream) {
        slot.Sent(NowNs());  // a stream that does not close misses its deadline, too
        slot.stream->WritesDone();
        slot.stream->Finish();
        slot.gate.Leave();
        slot.stream.reset();
      }
    }
    this->Retire();
  }

  void Resume(Slot& /*slot*/) override {}  // its thread backs off by itself

  const grpc::WriteOptions options_ = WriteOptionsFor(this->config().write_hint);
  Stubs<Stub> stubs_;
  std::atomic<int64_t> in_flight_{0};
  std::optional<GatedThreads> threads_;  // last: uses all the above
};

}  // namespace

std::unique_ptr<Engine> MakeSyncEngine(const EngineContext& context) {
  return MakeForStub<SyncEngine, Shape::kUnary, Shape::kClientStreaming, Shape::kServerStreaming, Shape::kBidi>(
      context);
}

}  // namespace cqbench
