// Unary calls on completion queues.

#include <grpcpp/grpcpp.h>

#include <memory>

#include "src/load/engines/cq_engine.h"

namespace cqbench {
namespace {

template <typename Stub>
struct UnarySlot : CqSlot<Stub> {
  std::unique_ptr<grpc::ClientAsyncResponseReader<typename Stub::Response>> call;
};

template <typename Stub>
class CqUnaryEngine final : public CqEngine<CqUnaryEngine<Stub>, UnarySlot<Stub>, Stub> {
  using Slot = UnarySlot<Stub>;

 public:
  explicit CqUnaryEngine(const EngineContext& context) : CqEngine<CqUnaryEngine, Slot, Stub>(context) {
    this->MakeThreads();
  }
  ~CqUnaryEngine() override { this->Stop(); }

  // Issue. Inlined into OnEvent(), which saves a tenth of what is ours.
  [[gnu::always_inline]] void Send(Slot& slot, Sender<Stub>& sender, Nanos now) {
    slot.Sent(now);
    sender.recorder.Sent(slot.due_ns);
    slot.call = slot.stub->Prepare(this->NewCall(slot), sender.requests.Next(), &slot.thread->queue);
    slot.call->StartCall();
    slot.call->Finish(&slot.responses->Next(), &slot.status, static_cast<CallSlot*>(&slot));
  }

  // Record, next. The status and the response tell how the call ended.
  void OnEvent(Slot& slot, CqThread<Stub>& thread, bool /*has_response*/) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    const absl::string_view wrong = CheckResponse(*slot.stub, slot.responses->Current(), this->config().message);
    const bool ok = this->RecordEnd(thread.recorder, slot, done, slot.status, wrong);
    if (!this->SendsNext(slot, done, ok, thread.recorder)) return;
    Send(slot, thread, done);
    this->NoteIssued(slot);
  }
};

}  // namespace

std::unique_ptr<Engine> MakeCqUnaryEngine(const EngineContext& context) {
  return MakeForStub<CqUnaryEngine, Shape::kUnary>(context);
}

}  // namespace cqbench
