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

  // Issue.
  void Send(Slot& slot, Nanos now) {
    this->Issue(slot, now, [&] {
      slot.stub->Start(this->NewCall(slot), &slot.requests->Next(), &slot.responses->Next(), &slot);
      slot.StartCall();
    });
  }

  // Record, next.
  void CallEnded(Slot& slot, const grpc::Status& status) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    const absl::string_view wrong = CheckResponse(*slot.stub, slot.responses->Current(), this->config().message);
    const bool ok = this->RecordEnd(this->recorder(), slot, done, status, wrong);
    if (this->SendsNext(slot, done, ok, this->recorder())) Send(slot, done);
  }
};

}  // namespace

std::unique_ptr<Engine> MakeCallbackUnaryEngine(const EngineContext& context) {
  return MakeForStub<CallbackUnaryEngine, Shape::kUnary>(context);
}

}  // namespace cqbench
