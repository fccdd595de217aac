#include "src/observe/allocations/allocations.h"

#include "src/observe/allocations/allocation_hooks.h"

namespace cqbench {

// The symbol is weak: its address is null if the program does not link the hooks.
[[gnu::weak]] extern AllocationCounters allocation_counters;
[[gnu::weak]] extern AllocationOwners allocation_owners;

AllocationCounts& AllocationCounts::operator+=(const AllocationCounts& other) {
  allocations += other.allocations;
  bytes += other.bytes;
  freed_elsewhere += other.freed_elsewhere;
  return *this;
}

AllocationCounts& AllocationCounts::operator-=(const AllocationCounts& other) {
  allocations -= other.allocations;
  bytes -= other.bytes;
  freed_elsewhere -= other.freed_elsewhere;
  return *this;
}

bool CanCountAllocations() {
  return &allocation_counters != nullptr;
}

bool SetCountingAllocations(bool on) {
  if (!CanCountAllocations()) return false;
  if (on && !allocation_counters.on.load(std::memory_order_relaxed)) {
    allocation_counters.grown.store(0, std::memory_order_relaxed);
    allocation_counters.most_grown.store(0, std::memory_order_relaxed);
  }
  const bool was_on = allocation_counters.on.exchange(on, std::memory_order_relaxed);
  // The table is cleared when counting ends: clearing takes milliseconds, in which calls would end uncounted.
  if (was_on && !on) allocation_owners.Forget();
  return was_on;
}

AllocationCounts CountedAllocations() {
  if (!CanCountAllocations()) return {};
  return {allocation_counters.allocations.load(std::memory_order_relaxed),
          allocation_counters.bytes.load(std::memory_order_relaxed),
          allocation_counters.freed_elsewhere.load(std::memory_order_relaxed)};
}

HeapChange ChangeOfHeap() {
  if (!CanCountAllocations()) return {};
  return {allocation_counters.grown.load(std::memory_order_relaxed),
          allocation_counters.most_grown.load(std::memory_order_relaxed)};
}

void AddCountedCalls(uint64_t calls) {
  if (CanCountAllocations()) allocation_counters.calls.fetch_add(calls, std::memory_order_relaxed);
}

uint64_t CountedCalls() {
  return CanCountAllocations() ? allocation_counters.calls.load(std::memory_order_relaxed) : 0;
}

}  // namespace cqbench
