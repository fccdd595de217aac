// What the allocation hooks share with the functions of cqbench/allocations.h.
#pragma once

#include <atomic>
#include <cstdint>

namespace cqbench {

// Written inside malloc, by threads of any age and before main(): constant-initialized, and no thread-local storage.
struct AllocationCounters {
  std::atomic<bool> on{false};
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> bytes{0};
  // Of the heap, as the allocator rounds it, since counting was switched on: more than then, and the most of that.
  std::atomic<int64_t> grown{0};
  std::atomic<int64_t> most_grown{0};
};

// Defined in allocation_hooks.cc, which most programs do not link.
extern AllocationCounters allocation_counters;

}  // namespace cqbench
