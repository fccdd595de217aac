// How the messages of a call live: one object that gives the next one to use.
#pragma once

#include <google/protobuf/arena.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>
#include <type_traits>

#include "src/config/messages.h"
#include "src/workload/messages/kept_memory.h"

namespace cqbench {

// An empty message on the arena. Newer releases of protobuf have Create() for messages, too, older ones
// CreateMessage().
template <typename M, typename Arena>
M* MakeOnArena(Arena* arena) {
  if constexpr (requires { Arena::template CreateMessage<M>(arena); }) {
    return Arena::template CreateMessage<M>(arena);
  } else {
    return Arena::template Create<M>(arena);
  }
}

// One thread at a time. A message is valid until the next call of Next(). M is a protobuf message, or grpc::ByteBuffer,
// which knows fresh and reused only (kBytes is reused).
template <typename M>
class MessageSupply {
 public:
  explicit MessageSupply(MessageStrategy kind)
      : keeps_(kind == MessageStrategy::kReused || kind == MessageStrategy::kBytes) {
    if (kind == MessageStrategy::kArena) {
      if constexpr (kOnArena) arena_ = std::make_unique<google::protobuf::Arena>();
    }
    Renew();
  }

  // fresh, arena: an empty message. reused: the same one as last time, as it was left.
  M& Next() {
    if (!keeps_) [[unlikely]]
      Renew();
    return *message_;
  }
  M& Current() { return *message_; }
  // The call is over and nobody knows when the next one comes: a large message gives its memory back, unless it is kept
  // for reuse, which KeptMemory bounds. No message is valid until Next().
  void Rest() {
    const size_t bytes = message_->ByteSizeLong();
    if (keeps_ ? kept_.Keep(bytes) : bytes <= KeptMemory::kSmall) [[likely]]
      return;
    kept_.Drop();
    Renew();
  }
  // Returns true if the message keeps its contents from one Next() to the next.
  bool keeps() const { return keeps_; }

 private:
  static constexpr bool kOnArena = !std::is_same_v<M, grpc::ByteBuffer>;

  void Renew() {
    if constexpr (kOnArena) {
      if (arena_) {
        arena_->Reset();
        message_ = MakeOnArena<M>(arena_.get());
        return;
      }
    }
    message_ = &own_.emplace();
  }

  const bool keeps_;
  std::unique_ptr<google::protobuf::Arena> arena_;
  std::optional<M> own_;
  KeptMemory kept_;
  M* message_ = nullptr;
};

}  // namespace cqbench
