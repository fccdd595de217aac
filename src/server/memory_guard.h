// Keeps the memory of a server within its limit, whatever clients do, and gives back what an attack has left.
#pragma once

#include <cstdint>
#include <string>

#include "cqbench/clock.h"
#include "cqbench/server.h"

namespace cqbench {

// Call Look() every kPeriod, from one thread. It costs a read of /proc while there is nothing to do.
//
// Beyond the limit it ends all connections of the server: the library drops what belongs to them, and clients see
// UNAVAILABLE. gRPC 1.51.1 has nothing better: its resource quota does not count calls, its limit of streams does not
// see those that were reset, and while a client keeps sending, it reads on without serving anybody (650 MB of calls
// each second).
//
// When no message has been answered for a second, memory that is free goes back to the system: glibc keeps it as long
// as something behind it is in use (2.5 GB after 200,000 calls that were reset). Calls that come after that, or that
// take longer than a second, fault pages in again.
class MemoryGuard {
 public:
  static constexpr Nanos kPeriod = 100 * kNanosPerMilli;

  // `limit_bytes`: of what is resident; 0: none. `server` must outlive this.
  MemoryGuard(uint64_t limit_bytes, PingServer& server);
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  // What to tell people: one line, or nothing.
  std::string Look();

 private:
  uint64_t Resident() const;
  std::string EndConnections(uint64_t resident);
  void TrimWhenIdle(uint64_t resident);

  const uint64_t limit_bytes_;
  PingServer& server_;
  const int statm_;        // /proc/self/statm, kept open
  uint64_t messages_ = 0;  // answered when Look() was called last
  int idle_looks_ = 0;     // so often there was no new one
  uint64_t unused_ = 0;    // what the last trimming left, so that it is not tried again and again
  Nanos told_at_ = 0;
};

}  // namespace cqbench
