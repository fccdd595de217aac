// How many times this process has asked for memory, for programs that were linked to count it.
#pragma once

#include <cstdint>

namespace cqbench {

// One allocation is one successful call of malloc, calloc, realloc, aligned_alloc, posix_memalign or memalign by
// anything in the process, shared libraries included, and therefore each operator new, too. A realloc is one allocation
// of the new size, wherever the memory ends up. Memory that is mapped past the allocator (mmap, thread stacks) is not
// counted.
struct AllocationCounts {
  uint64_t allocations = 0;
  uint64_t bytes = 0;  // as requested: alignment and the allocator's own overhead are not in it
  // Of those that were counted: freed, or given to realloc, by another thread while counting was on. An allocator with
  // a cache for each thread pays for it.
  uint64_t freed_elsewhere = 0;

  AllocationCounts& operator+=(const AllocationCounts& other);
  AllocationCounts& operator-=(const AllocationCounts& other);
};

// True only in programs that link cqbench_allocation_hooks, which puts itself in front of the allocator; without it the
// functions below do nothing and the counts stay 0. Such a program pays one relaxed load per allocation while counting
// is off. While it is on, all threads write to one cache line, and to a table of the blocks that are in use: what is
// timed meanwhile says nothing.
bool CanCountAllocations();

// All of these: any thread, any time. Counting is off at the start. An allocation that another thread is making while
// this is called may or may not be counted.
//
// Returns whether it was on before.
bool SetCountingAllocations(bool on);

// What was counted since the program started, in all threads. The two numbers belong together only while no other
// thread allocates.
AllocationCounts CountedAllocations();

// By how many bytes, as the allocator rounds them up, the heap in use has grown since counting was last switched on, or
// until it was switched off again; and the most it had grown at any time between. Memory from before that is freed
// counts against it, so both may stay below what was allocated, and the first below 0.
struct HeapChange {
  int64_t grown = 0;
  int64_t most_grown = 0;
};
HeapChange ChangeOfHeap();

// Calls that were made while allocations were counted: said by whoever counts them, since the program started.
void AddCountedCalls(uint64_t calls);
uint64_t CountedCalls();

}  // namespace cqbench
