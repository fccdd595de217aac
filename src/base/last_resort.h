// The end of a process that cannot go on, whatever the library makes of it: one line, no file left half, exit status 1.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/base/clock.h"

namespace cqbench {

// First thing in main(), once: `program` begins the line. From then on memory that cannot be had ends the process with
// a line, wherever it is asked for with new. An abort and a write through a null pointer, which the library answers
// hostile bytes and failed allocations with, leave a line, too. Without a limit on address space (ulimit -v), which
// explains them, they end the process as they always do.
void InstallLastResort(const char* program);

// Sets a known reason for which the library may abort, and how to avoid it; the last line of an aborted process ends
// with `why`. Empty: no known reason. Call once, before the first RPC.
void ExplainAbort(const std::string& why);

// Checks that gRPC can work at all: a few threads, with their stacks, and memory. Without them gRPC waits forever for a
// thread that it could not start, or reports that it has no connection. Starts and ends these threads; call it before
// the first use of gRPC. RESOURCE_EXHAUSTED names what is missing, how much is needed, and the limit.
absl::Status CheckThreadsAndMemory();

// Returns how much memory the process has left if that is little: an explanation for errors without a reason from the
// library. Empty: enough, or there is no limit.
std::string NearLimit();

// The file at `path` is removed if the process aborts; empty: none. The string must stay valid until the next call.
void RemoveAtLastResort(const std::string& path);

// Printed to standard output when the process ends so: what would otherwise be lost.
void SayAtLastResort(std::string text);

// While there is one, a step may not take longer than `limit`: otherwise the process ends, with a line that says what
// it was doing. For the main thread, and not while calls are measured: a timer interrupts it now and then. Time during
// which the process, or the machine, is stopped does not count. Not nested.
class StepLimit {
 public:
  // To be added to a time-out that the library has to keep by itself.
  static constexpr Nanos kSlack = 4 * kNanosPerSecond;

  StepLimit(absl::string_view doing, Nanos limit);
  StepLimit(const StepLimit&) = delete;
  StepLimit& operator=(const StepLimit&) = delete;
  ~StepLimit();

 private:
  bool armed_ = false;
};

}  // namespace cqbench
