// Ping-pong over bidirectional streams on completion queues.

#include <grpcpp/grpcpp.h>

#include <memory>

#include "src/load/engines/cq_engine.h"

namespace cqbench {
namespace {

template <typename Stub>
struct BidiSlot : CqSlot<Stub> {
  enum class Phase { kOpening, kPinging, kClosing, kBroken };

  std::unique_ptr<grpc::ClientAsyncReaderWriter<typename Stub::Request, typename Stub::Response>> stream;
  Phase phase = Phase::kOpening;
  Phase broke_in = Phase::kOpening;
  int pending = 0;  // operations whose event has not come yet
  bool finishing = false;
};

// Ping-pong: the write of a message and the read of its response are issued together, so the response finds a reader
// waiting. A message is done when both events have come.
template <typename Stub>
class CqBidiEngine final : public CqEngine<CqBidiEngine<Stub>, BidiSlot<Stub>, Stub> {
  using Slot = BidiSlot<Stub>;
  using Phase = typename Slot::Phase;

 public:
  explicit CqBidiEngine(const EngineContext& context) : CqEngine<CqBidiEngine, Slot, Stub>(context) {
    this->MakeThreads();
  }
  ~CqBidiEngine() override { this->Stop(); }

  bool Open(Slot& slot) override {
    slot.phase = Phase::kOpening;
    slot.finishing = false;
    slot.stream.reset();  // lives in the memory of its call, which the context holds
    slot.Sent(NowNs());
    slot.stream = slot.stub->Prepare(this->NewStream(slot), &slot.thread->queue);
    slot.pending = 1;
    slot.stream->StartCall(static_cast<CallSlot*>(&slot));
    return false;
  }
  void Close(Slot& slot) override {
    slot.phase = Phase::kClosing;
    slot.Sent(NowNs());  // a stream that does not close misses its deadline, too
    slot.pending = 1;
    slot.stream->WritesDone(static_cast<CallSlot*>(&slot));
  }

  // Issue.
  void Send(Slot& slot, Sender<Stub>& sender, Nanos now) {
    slot.Sent(now);
    sender.recorder.Sent(slot.due_ns);
    slot.pending = 2;
    slot.stream->Read(&slot.responses->Next(), static_cast<CallSlot*>(&slot));
    slot.stream->Write(sender.requests.Next(), static_cast<CallSlot*>(&slot));
  }

  // Record, next.
  void OnEvent(Slot& slot, CqThread<Stub>& thread, bool ok) {
    if (!ok && slot.phase != Phase::kBroken) {
      slot.broke_in = slot.phase;
      slot.phase = Phase::kBroken;
    }
    if (--slot.pending > 0) return;
    const Nanos done = NowNs();
    switch (slot.phase) {
      case Phase::kPinging: {
        const absl::string_view wrong = CheckResponse(*slot.stub, slot.responses->Current(), this->config().message);
        return Next(slot, thread, done, this->RecordEnd(thread.recorder, slot, done, grpc::Status::OK, wrong));
      }
      case Phase::kOpening:
        slot.phase = Phase::kPinging;
        return Next(slot, thread, done, /*ok=*/true);
      case Phase::kClosing:
      case Phase::kBroken:
        if (slot.finishing) return Ended(slot, thread, done);
        slot.finishing = true;
        slot.pending = 1;
        slot.stream->Finish(&slot.status, static_cast<CallSlot*>(&slot));
    }
  }

 private:
  void Next(Slot& slot, CqThread<Stub>& thread, Nanos done, bool ok) {
    if (!this->SendsNext(slot, done, ok, thread.recorder)) return;
    Send(slot, thread, done);
    this->NoteIssued(slot);
  }
  void Ended(Slot& slot, CqThread<Stub>& thread, Nanos done) {
    slot.gate.Leave();
    if (slot.phase == Phase::kBroken) RecordBreak(this->open_loop(), slot, thread, done);
    this->StreamEnded(slot, done);
  }
  // In a closed loop a message is due as soon as the stream is to be opened; in an open one only Send() makes it this
  // slot's. A stream that breaks while it is being closed takes no message with it.
  void RecordBreak(bool open_loop, Slot& slot, CqThread<Stub>& thread, Nanos done) {
    if (slot.broke_in == Phase::kClosing || (slot.broke_in == Phase::kOpening && open_loop)) return;
    if (slot.broke_in == Phase::kOpening) thread.recorder.Sent(slot.due_ns);
    this->RecordBroken(thread.recorder, slot, done, slot.status);
  }
};

}  // namespace

std::unique_ptr<Engine> MakeCqBidiEngine(const EngineContext& context) {
  return MakeForStub<CqBidiEngine, Shape::kBidi>(context);
}

}  // namespace cqbench
