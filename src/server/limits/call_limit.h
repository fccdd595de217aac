// How many calls of one kind the server may serve at the same time.
#pragma once

#include <atomic>

namespace cqbench {

// Thread-safe.
class CallLimit {
 public:
  explicit CallLimit(int most) : most_(most) {}

  // Counts a call from its construction to its destruction. A call that is not allowed counts, too: it ends at once.
  class Call {
   public:
    explicit Call(CallLimit& limit) : limit_(limit), allowed_(++limit.in_progress_ <= limit.most_) {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { --limit_.in_progress_; }
    bool allowed() const { return allowed_; }

   private:
    CallLimit& limit_;
    const bool allowed_;
  };

 private:
  const int most_;
  std::atomic<int> in_progress_{0};
};

}  // namespace cqbench
