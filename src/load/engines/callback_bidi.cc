// Ping-pong over bidirectional streams with reactors.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>

#include "src/load/engines/callback_engine.h"

namespace cqbench {
namespace {

template <typename Stub>
class CallbackBidiEngine;

template <typename Stub>
struct BidiSlot final : ReactorSlot<Stub>, grpc::ClientBidiReactor<typename Stub::Request, typename Stub::Response> {
  CallbackBidiEngine<Stub>* engine = nullptr;
  // Write and read of a message may end on two threads at once; whoever is second goes on.
  std::atomic<int> pending{0};
  std::atomic<bool> broken{false};
  bool in_message = false;

  void OnWriteDone(bool ok) override { OperationDone(ok); }
  void OnReadDone(bool ok) override { OperationDone(ok); }
  void OnDone(const grpc::Status& status) override { engine->Ended(*this, status); }

 private:
  void OperationDone(bool ok) {
    if (!ok) broken.store(true, std::memory_order_relaxed);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (!broken.load(std::memory_order_relaxed)) return engine->MessageDone(*this);
    this->RemoveHold();  // OnDone follows
  }
};

// The stream is held from its opening until it breaks or is closed: between two messages of an open loop no operation
// is under way, and the next may be started by a thread that is not in a reaction.
template <typename Stub>
class CallbackBidiEngine final : public CallbackEngine<CallbackBidiEngine<Stub>, BidiSlot<Stub>, Stub> {
  using Slot = BidiSlot<Stub>;

 public:
  explicit CallbackBidiEngine(const EngineContext& context) : CallbackEngine<CallbackBidiEngine, Slot, Stub>(context) {
    this->MakeReady();
  }
  ~CallbackBidiEngine() override { this->Stop(); }

  // Operations wait in the library until the stream is open, so it is ready at once.
  bool Open(Slot& slot) override {
    slot.broken.store(false, std::memory_order_relaxed);
    slot.in_message = false;
    slot.stub->Start(this->NewStream(slot), &slot);
    slot.AddHold();
    slot.StartCall();
    return true;
  }
  void Close(Slot& slot) override {
    slot.Sent(NowNs());  // a stream that does not close misses its deadline, too
    slot.StartWritesDone();
    slot.RemoveHold();
  }

  // Issue.
  void Send(Slot& slot, Nanos now) {
    this->Issue(slot, now, [&] {
      slot.in_message = true;
      slot.pending.store(2, std::memory_order_relaxed);
      slot.StartRead(&slot.responses->Next());
      slot.StartWrite(&slot.requests->Next());
    });
  }

  // Record, next.
  void MessageDone(Slot& slot) {
    const Nanos done = NowNs();
    slot.in_message = false;
    const absl::string_view wrong = CheckResponse(*slot.stub, slot.responses->Current(), this->config().message);
    const bool ok = this->RecordEnd(this->recorder(), slot, done, grpc::Status::OK, wrong);
    if (this->SendsNext(slot, done, ok, this->recorder())) Send(slot, done);
  }

  void Ended(Slot& slot, const grpc::Status& status) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    if (slot.in_message) this->RecordBroken(this->recorder(), slot, done, status);
    this->StreamEnded(slot, done);
  }
};

}  // namespace

std::unique_ptr<Engine> MakeCallbackBidiEngine(const EngineContext& context) {
  return MakeForStub<CallbackBidiEngine, Shape::kBidi>(context);
}

}  // namespace cqbench
