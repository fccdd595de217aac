// Client- and server-streaming calls on completion queues.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <utility>

#include "src/load/engines/cq_engine.h"
#include "src/load/engines/transfer.h"

namespace cqbench {
namespace {

// The call object of a client- or server-streaming method, prepared.
template <typename Stub>
auto PrepareTransfer(CqSlot<Stub>& slot, grpc::ClientContext* context, [[maybe_unused]] Requests<Stub>& requests) {
  if constexpr (Stub::kStream == Shape::kClientStreaming) {
    return slot.stub->Prepare(context, &slot.responses->Next(), &slot.thread->queue);
  } else if constexpr (Stub::kStream == Shape::kServerStreaming) {
    return slot.stub->Prepare(context, requests.Next(), &slot.thread->queue);
  } else {
    return slot.stub->Prepare(context, &slot.thread->queue);
  }
}

template <typename Stub>
struct TransferSlot : CqSlot<Stub> {
  enum class Phase { kStarting, kWriting, kReading, kFinishing };

  decltype(PrepareTransfer(std::declval<CqSlot<Stub>&>(), nullptr, std::declval<Requests<Stub>&>())) call;
  Phase phase = Phase::kStarting;
  std::optional<Transfer<Stub>> transfer;
};

// Client- and server-streaming calls, whole: one operation at a time. Writes are of the sender's request, so only its
// first is made by the sender; the others by the thread that sees events.
template <typename Stub>
class CqTransferEngine final : public CqEngine<CqTransferEngine<Stub>, TransferSlot<Stub>, Stub> {
  using Slot = TransferSlot<Stub>;
  using Phase = typename Slot::Phase;
  // The phase in which a stream's many messages move.
  static constexpr Phase kMoves = Stub::kShape == Shape::kClientStreaming ? Phase::kWriting : Phase::kReading;

 public:
  explicit CqTransferEngine(const EngineContext& context) : CqEngine<CqTransferEngine, Slot, Stub>(context) {
    this->MakeThreads();
  }
  ~CqTransferEngine() override { this->Stop(); }

  // Issue.
  void Send(Slot& slot, Sender<Stub>& sender, Nanos now) {
    slot.Sent(now);
    sender.recorder.Sent(slot.due_ns);
    slot.call.reset();  // lives in the memory of its call, which the context holds
    slot.phase = Phase::kStarting;
    slot.transfer.emplace(*slot.stub, this->config(), this->bytes());
    slot.call = PrepareTransfer<Stub>(slot, this->NewCall(slot), sender.requests);
    slot.call->StartCall(static_cast<CallSlot*>(&slot));
    if constexpr (kWrites<Stub>) {
      if (this->corked()) [[unlikely]]  // there is no event for its start
        Write(slot, sender.requests);
    }
  }

  // Issue the next operation, or record and next.
  void OnEvent(Slot& slot, CqThread<Stub>& thread, bool ok) {
    if (slot.phase == Phase::kFinishing) return Ended(slot, thread);
    if (slot.phase == kMoves && ok) slot.transfer->Moved(thread.recorder);
    if (slot.phase == Phase::kReading && ok) slot.transfer->Took(slot.responses->Current());
    if constexpr (kWrites<Stub>) {
      if (ok && !slot.transfer->written()) return Write(slot, thread.requests);
    }
    // Where a write fails the server may have answered already, and the status comes after the response.
    if constexpr (kReads<Stub>) {
      if (ok || slot.phase == Phase::kWriting) return Read(slot);
    }
    slot.phase = Phase::kFinishing;
    slot.call->Finish(&slot.status, static_cast<CallSlot*>(&slot));
  }

 private:
  void Write(Slot& slot, Requests<Stub>& requests) {
    slot.phase = Phase::kWriting;
    const typename Stub::Request& request = requests.Next(slot.transfer->place());
    if (!slot.transfer->IsLastWrite()) return slot.call->Write(request, options_, static_cast<CallSlot*>(&slot));
    slot.call->WriteLast(request, grpc::WriteOptions(), static_cast<CallSlot*>(&slot));
  }
  void Read(Slot& slot) {
    slot.phase = Phase::kReading;
    slot.call->Read(&slot.responses->Next(), static_cast<CallSlot*>(&slot));
  }
  void Ended(Slot& slot, CqThread<Stub>& thread) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    const absl::string_view wrong = slot.transfer->WrongAtEnd(slot.responses->Current());
    const bool ok = this->RecordEnd(thread.recorder, slot, done, slot.status, wrong);
    if (!this->SendsNext(slot, done, ok, thread.recorder)) return;
    Send(slot, thread, done);
    this->NoteIssued(slot);
  }

  const grpc::WriteOptions options_ = WriteOptionsFor(this->config().write_hint);
};

}  // namespace

std::unique_ptr<Engine> MakeCqTransferEngine(const EngineContext& context) {
  return MakeForStub<CqTransferEngine, Shape::kClientStreaming, Shape::kServerStreaming>(context);
}

}  // namespace cqbench
