// Counts how many times this process has allocated memory, in programs that were linked for it.
#pragma once

#include <cstdint>

namespace cqbench {

// One allocation is one successful call of malloc, calloc, realloc, aligned_alloc, posix_memalign or memalign by any
// code in the process, shared libraries included; hence each operator new counts, too. A realloc is one allocation of
// the new size, even if the memory stays in place. Memory that is mapped without the allocator (mmap, thread stacks)
// does not count.
struct AllocationCounts {
  uint64_t allocations = 0;
  uint64_t bytes = 0;  // as requested: without alignment and the allocator's overhead
  // How many of the counted allocations another thread freed or reallocated while counting was on. This costs time in
  // an allocator with a cache for each thread.
  uint64_t freed_elsewhere = 0;

  AllocationCounts& operator+=(const AllocationCounts& other);
  AllocationCounts& operator-=(const AllocationCounts& other);
};

// True only in programs that link cqbench_allocation_hooks, which interposes the allocator. Without it the functions
// below do nothing and the counts stay 0. Such a program pays one relaxed load per allocation while counting is off.
// While counting is on, all threads write to one cache line and to a table of the blocks in use, so times measured then
// are not valid.
bool CanCountAllocations();

// All functions: any thread, any time. Counting is off at the start. An allocation that another thread makes during the
// call may or may not count.
//
// Returns whether counting was on before.
bool SetCountingAllocations(bool on);

// Returns the counts since the program started, of all threads. The two numbers belong together only while no other
// thread allocates.
AllocationCounts CountedAllocations();

// Growth of the heap in use, in bytes as the allocator rounds them up, since counting was last switched on (until it
// was switched off, if it was), and the maximum growth in between. Freeing older memory reduces both, so the first may
// be below 0.
struct HeapChange {
  int64_t grown = 0;
  int64_t most_grown = 0;
};
HeapChange ChangeOfHeap();

// Adds calls that were made while counting was on; the total is since the program started.
void AddCountedCalls(uint64_t calls);
uint64_t CountedCalls();

}  // namespace cqbench
