// A call on a server's completion queue.
#pragma once

#include <type_traits>

#include "src/base/clock.h"

namespace cqbench {

// A tag on a server's completion queue points to this: a call with a step function. Calls of several types share a
// queue and a tag is a void*, so one indirect call per event finds the type.
class ServerEvent {
 public:
  void Run(void* thread, bool ok) { step_(this, thread, ok); }
  // True if the event under way ends the call, so that stepping starts nothing.
  bool is_last() const { return is_last_; }

 protected:
  void* Tag() { return this; }
  // The tag of the operation that ends the call.
  void* LastTag() {
    is_last_ = true;
    return this;
  }
  // From now on events of this object go to Call::Step(Thread&, bool ok).
  template <typename Call, typename Thread>
  void Bind() {
    is_last_ = false;
    step_ = [](ServerEvent* self, void* thread, bool ok) {
      static_cast<Call*>(self)->Step(*static_cast<Thread*>(thread), ok);
    };
  }

 private:
  void (*step_)(ServerEvent* self, void* thread, bool ok) = nullptr;
  bool is_last_ = false;
};

// `Steps` is CallSteps<Call> or derives from it. `Call` also has
//   template <typename Thread> void Begin(Thread&);  its posted request was taken
//   void Rest();                                     it is over: idle objects keep nothing of a call
template <typename Call, typename Steps>
class CqCall : public ServerEvent, public Steps {
 public:
  // Takes the events of the call, in order.
  template <typename Thread>
  void Step(Thread& thread, bool ok) {
    Call* const call = static_cast<Call*>(this);
    if (is_last()) {
      this->OnSent(thread);
      call->Rest();
      return thread.Ended(call, ok && this->good());
    }
    switch (state_) {
      case State::kPosted:
        if (ok) call->Begin(thread);
        return;  // otherwise the server shuts down, and no request came
      case State::kReading:
        return ok ? this->OnRequest(thread, arrived_) : this->OnRequestsEnded(thread);
      case State::kWriting:
        return this->OnWritten(thread, ok);
    }
  }

 protected:
  enum class State { kPosted, kReading, kWriting };
  State state_ = State::kPosted;
  Nanos arrived_ = 0;  // when the call came; 0: it is not timed
};

}  // namespace cqbench
