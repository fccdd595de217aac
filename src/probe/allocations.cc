#include "cqbench/allocations.h"

#include "src/probe/allocation_hooks.h"

namespace cqbench {

// Weak, so that its address is null where nothing defines it.
[[gnu::weak]] extern AllocationCounters allocation_counters;

bool CanCountAllocations() {
  return &allocation_counters != nullptr;
}

bool SetCountingAllocations(bool on) {
  return CanCountAllocations() && allocation_counters.on.exchange(on, std::memory_order_relaxed);
}

AllocationCounts CountedAllocations() {
  if (!CanCountAllocations()) return {};
  return {allocation_counters.allocations.load(std::memory_order_relaxed),
          allocation_counters.bytes.load(std::memory_order_relaxed)};
}

}  // namespace cqbench
