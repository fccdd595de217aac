// Limits for a server's clients, so that no client can exhaust the machine.
#pragma once

#include <cstdint>

#include "src/config/messages.h"

namespace cqbench {

struct ServerLimits {
  uint64_t memory_bytes = 0;  // resident; 0: no bound. What MemoryGuard holds it to, and the library's resource quota
  uint32_t message_bytes = kMaxPayloadBytes;  // payload of a request that is taken, and of a response that is made
  int threads = 8192;                         // of the library's for synchronous calls, each of which takes one
  bool accepts_compressed = false;            // requests; otherwise such calls end as UNIMPLEMENTED
};

// Half of what this machine, or the control group of this process, has; 8 GiB at most.
uint64_t DefaultMemoryLimit();

}  // namespace cqbench
