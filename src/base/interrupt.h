// Waiting that SIGINT, SIGTERM and SIGHUP end.
#pragma once

#include "src/base/clock.h"

namespace cqbench {

// Construct first thing in main(): it blocks these signals for the process (threads started later inherit that), and
// they are then taken only by the calls below. No handler runs at any time. One thread. SIGHUP stays ignored where it
// is (nohup). SIGPIPE and SIGXFSZ are ignored from then on.
class Interrupt {
 public:
  Interrupt();

  // Sleeps until that time or until a signal comes. True when one has come, now or before.
  bool SleepUntil(Nanos deadline);
  // True when a signal has come.
  bool Pending() { return SleepUntil(0); }
  // Sleeps until a signal comes.
  void Wait();
  // Forgets the one that came, so that the next is noticed.
  void Reset() { signal_ = 0; }
  // The signal that came; 0: none.
  int signal() const { return signal_; }

 private:
  int signal_ = 0;
};

}  // namespace cqbench
