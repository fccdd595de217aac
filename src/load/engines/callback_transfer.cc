// Client- and server-streaming calls with reactors.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <type_traits>

#include "src/load/engines/callback_engine.h"
#include "src/load/engines/transfer.h"

namespace cqbench {
namespace {

template <typename Stub>
class CallbackTransferEngine;

// Selects the reactor by the shape of the stub's streams.
template <typename Stub>
using ReactorOf = std::conditional_t<
    Stub::kStream == Shape::kClientStreaming, grpc::ClientWriteReactor<typename Stub::Request>,
    std::conditional_t<Stub::kStream == Shape::kServerStreaming, grpc::ClientReadReactor<typename Stub::Response>,
                       grpc::ClientBidiReactor<typename Stub::Request, typename Stub::Response>>>;

// Not every reactor has both of OnWriteDone() and OnReadDone(): where it has, they override, and none says so.
template <typename Stub>
struct TransferSlot final : ReactorSlot<Stub>, ReactorOf<Stub> {
  CallbackTransferEngine<Stub>* engine = nullptr;
  std::optional<Transfer<Stub>> transfer;

  void OnWriteDone(bool ok) {  // NOLINT(modernize-use-override)
    if (ok) engine->Wrote(*this);
  }
  void OnReadDone(bool ok) {  // NOLINT(modernize-use-override)
    if (ok) engine->Took(*this);
  }
  void OnDone(const grpc::Status& status) { engine->CallEnded(*this, status); }  // NOLINT(modernize-use-override)
};

// Client- and server-streaming calls, whole. An operation that fails starts no other; OnDone() follows.
template <typename Stub>
class CallbackTransferEngine final : public CallbackEngine<CallbackTransferEngine<Stub>, TransferSlot<Stub>, Stub> {
  using Slot = TransferSlot<Stub>;

 public:
  explicit CallbackTransferEngine(const EngineContext& context)
      : CallbackEngine<CallbackTransferEngine, Slot, Stub>(context) {
    this->MakeReady();
  }
  ~CallbackTransferEngine() override { this->Stop(); }

  // Issue.
  void Send(Slot& slot, Nanos now) {
    this->Issue(slot, now, [&] { BeginCall(slot); });
  }

  void BeginCall(Slot& slot) {
    grpc::ClientContext* context = this->NewCall(slot);
    slot.transfer.emplace(*slot.stub, this->config(), this->bytes());
    if constexpr (Stub::kStream == Shape::kClientStreaming) {
      slot.stub->Start(context, &slot.responses->Next(), &slot);
    } else if constexpr (Stub::kStream == Shape::kServerStreaming) {
      slot.stub->Start(context, &slot.requests->Next(), &slot);
    } else {
      slot.stub->Start(context, &slot);
    }
    if constexpr (kReads<Stub>) slot.StartRead(&slot.responses->Next());
    if constexpr (kWrites<Stub>) Write(slot);
    slot.StartCall();
  }

  void Wrote(Slot& slot) {
    if constexpr (Stub::kShape == Shape::kClientStreaming) slot.transfer->Moved(this->recorder());
    Write(slot);
  }
  void Write([[maybe_unused]] Slot& slot) {
    if constexpr (kWrites<Stub>) {
      if (slot.transfer->written()) return;
      const typename Stub::Request& request = slot.requests->Next(slot.transfer->place());
      if (!slot.transfer->IsLastWrite()) return slot.StartWrite(&request, options_);
      slot.StartWriteLast(&request, grpc::WriteOptions());
    }
  }
  void Took([[maybe_unused]] Slot& slot) {
    if constexpr (kReads<Stub>) {
      if constexpr (Stub::kShape == Shape::kServerStreaming) slot.transfer->Moved(this->recorder());
      slot.transfer->Took(slot.responses->Current());
      slot.StartRead(&slot.responses->Next());
    }
  }

  // Record, next.
  void CallEnded(Slot& slot, const grpc::Status& status) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    const absl::string_view wrong = slot.transfer->WrongAtEnd(slot.responses->Current());
    const bool ok = this->RecordEnd(this->recorder(), slot, done, status, wrong);
    if (this->SendsNext(slot, done, ok, this->recorder())) Send(slot, done);
  }

 private:
  const grpc::WriteOptions options_ = WriteOptionsFor(this->config().write_hint);
};

}  // namespace

std::unique_ptr<Engine> MakeCallbackTransferEngine(const EngineContext& context) {
  return MakeForStub<CallbackTransferEngine, Shape::kClientStreaming, Shape::kServerStreaming>(context);
}

}  // namespace cqbench
