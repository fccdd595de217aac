// Which messages of streams are past their deadline: gRPC has deadlines for calls only.
#pragma once

#include <cstddef>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "src/base/clock.h"

namespace cqbench {

// Looks at each slot about once per deadline, however often it is asked: a message that was sent at t cannot be late
// before t + deadline, and what the slot sends after a look is not late before that look + deadline. One thread.
// `Slot` has sent(), 0 between messages, written by other threads.
template <typename Slot>
class LateMessages {
 public:
  LateMessages(std::span<Slot> slots, Nanos deadline_ns) : slots_(slots), deadline_ns_(deadline_ns) {}

  // Calls late(slot) for each whose message is late. Not sooner than that deadline, and not later than the next call of
  // this function after it.
  template <typename Late>
  void Look(Nanos now, Late&& late) {
    if (looks_.empty()) {
      for (size_t i = 0; i < slots_.size(); ++i) looks_.emplace(now, i);
    }
    while (looks_.top().first <= now) {
      const size_t i = looks_.top().second;
      looks_.pop();
      const Nanos sent = slots_[i].sent();
      const bool is_late = sent != 0 && now - sent >= deadline_ns_;
      if (is_late) late(slots_[i]);
      looks_.emplace((sent == 0 || is_late ? now : sent) + deadline_ns_, i);
      ++taken_;
    }
  }
  size_t taken() const { return taken_; }  // looks so far

 private:
  using Entry = std::pair<Nanos, size_t>;  // when to look at which slot again
  const std::span<Slot> slots_;
  const Nanos deadline_ns_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> looks_;
  size_t taken_ = 0;
};

}  // namespace cqbench
