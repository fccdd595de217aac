// Deadlines of the messages of streams: gRPC has deadlines for calls only.
#pragma once

#include <cstddef>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "src/base/clock.h"

namespace cqbench {

// Checks each slot about once per deadline, however often it is asked: a message that was sent at t cannot miss its
// deadline before t + deadline, and what the slot sends after a check not before that check + deadline. One thread.
// `Slot` has sent(), 0 between messages, written by other threads.
template <typename Slot>
class MessageDeadlines {
 public:
  MessageDeadlines(std::span<Slot> slots, Nanos deadline_ns) : slots_(slots), deadline_ns_(deadline_ns) {}

  // Calls missed(slot) for each whose message has missed its deadline. Not sooner than that deadline, and not later
  // than the next call of this function after it.
  template <typename Missed>
  void Check(Nanos now, Missed&& missed) {
    if (next_.empty()) {
      for (size_t i = 0; i < slots_.size(); ++i) next_.emplace(now, i);
    }
    while (next_.top().first <= now) {
      const size_t i = next_.top().second;
      next_.pop();
      const Nanos sent = slots_[i].sent();
      const bool has_missed = sent != 0 && now - sent >= deadline_ns_;
      if (has_missed) missed(slots_[i]);
      next_.emplace((sent == 0 || has_missed ? now : sent) + deadline_ns_, i);
      ++checks_;
    }
  }
  size_t checks() const { return checks_; }  // of a slot, so far

 private:
  using Entry = std::pair<Nanos, size_t>;  // when to check which slot again
  const std::span<Slot> slots_;
  const Nanos deadline_ns_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next_;
  size_t checks_ = 0;
};

}  // namespace cqbench
