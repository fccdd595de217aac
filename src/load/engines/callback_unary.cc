// Unary calls with reactors.

#include <grpcpp/grpcpp.h>

#include <memory>

#include "src/load/engines/callback_engine.h"

namespace cqbench {
namespace {

template <typename Stub>
class CallbackUnaryEngine;

// The reactor is free for the next call once OnDone has been entered.
template <typename Stub>
struct UnarySlot final : ReactorSlot<Stub>, grpc::ClientUnaryReactor {
  CallbackUnaryEngine<Stub>* engine = nullptr;

  void OnDone(const grpc::Status& status) override { engine->CallEnded(*this, status); }
};

template <typename Stub>
class CallbackUnaryEngine final : public CallbackEngine<CallbackUnaryEngine<Stub>, UnarySlot<Stub>, Stub> {
  using Slot = UnarySlot<Stub>;

 public:
  explicit CallbackUnaryEngine(const EngineContext& context)
      : CallbackEngine<CallbackUnaryEngine, Slot, Stub>(context) {
    this->MakeReady();
  }
  ~CallbackUnaryEngine() override { this->Stop(); }

  bool Open(Slot& /*slot*/) { return true; }
  void Close(Slot& /*slot*/) { this->Retire(); }

  void Send(Slot& slot) {
    slot.stub->Start(this->NewCall(slot), &slot.requests->Next(), &slot.responses->Next(), &slot);
    slot.StartCall();
  }

  // Record, next.
  void CallEnded(Slot& slot, const grpc::Status& status) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    const absl::string_view wrong = CheckResponse(*slot.stub, slot.responses->Current(), this->config().message);
    this->Next(slot, done, this->RecordEnd(this->recorder(), slot, done, status, wrong));
  }
};

}  // namespace

std::unique_ptr<Engine> MakeCallbackUnaryEngine(const EngineContext& context) {
  return MakeForStub<CallbackUnaryEngine, Shape::kUnary>(context);
}

}  // namespace cqbench
