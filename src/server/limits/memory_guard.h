// Keeps the memory of a server within its limit, whatever clients do, and gives back what an attack has left.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cqbench/server.h"
#include "src/base/clock.h"

namespace cqbench {

// Call Check() every kPeriod, from one thread. It costs a read of /proc while there is nothing to do.
//
// Beyond the limit it ends all connections of the server: the library drops what belongs to them, and clients see
// UNAVAILABLE. gRPC 1.51.1 has nothing better: its resource quota does not count calls, its limit of streams does not
// see those that were reset, and while a client keeps sending, it reads on without serving anybody (650 MB of calls
// each second).
//
// Memory that is free goes back to the system: glibc keeps it as long as something after it is in use (2.5 GB after
// 200,000 calls that were reset). An idle server, which has answered nothing for a second, gives back nearly all. A
// busy one does when more than half of what is resident, and 128 MiB, has been free for two seconds. If that does not
// last, it waits twice as long the next time, since calls that come after that fault pages in again.
class MemoryGuard {
 public:
  static constexpr Nanos kPeriod = 100 * kNanosPerMilli;

  // `limit_bytes`: of what is resident; 0: none. Opens a file: make it before the server starts, whose clients may use
  // up all descriptors.
  explicit MemoryGuard(uint64_t limit_bytes);
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  // The text for people: one line, or nothing.
  std::string Check(PingServer& server);

  // Returns true if so much is resident that calls may be waiting in the library, which queues them without a bound for
  // handlers of the callback and the sync API. Any thread.
  static bool MayBeBehind() { return may_be_behind_.load(std::memory_order_relaxed); }

 private:
  uint64_t Resident() const;
  std::string EndConnections(PingServer& server, uint64_t resident);
  static void TrimWithinAPeriod();
  void TrimUnused(PingServer& server, uint64_t resident);
  void Forget();
  void Trim();

  static constexpr int kFirstPatience = 2;
  static inline std::atomic<bool> may_be_behind_{false};
  static inline std::atomic<bool> trimming_{false};

  const uint64_t limit_bytes_;
  const uint64_t behind_from_;
  const int statm_;  // /proc/self/statm, kept open
  int checks_ = 0;
  uint64_t messages_ = 0;          // answered a second ago
  int large_ = 0;                  // seconds for which much has been free
  int patience_ = kFirstPatience;  // seconds for which it must be
  uint64_t unused_ = 0;            // what the last trimming left, so that it is not tried again and again
  Nanos reported_at_ = 0;
};

}  // namespace cqbench
