// Data that the allocation hooks share with the functions of src/observe/allocations/allocations.h and
// src/result/allocation_sites.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "src/base/hash.h"

namespace cqbench {

// All threads write these inside malloc, even before main(); therefore they are constant-initialized.
struct AllocationCounters {
  std::atomic<bool> on{false};
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> freed_elsewhere{0};
  // How much the heap in use has grown since counting was switched on, as the allocator rounds sizes, and the maximum
  // of that.
  std::atomic<int64_t> grown{0};
  std::atomic<int64_t> most_grown{0};
  std::atomic<uint64_t> calls{0};  // calls made while counting was on, as their counter reports them
};

// Remembers the thread that allocated each block in use. A word holds a block's address and its thread's number. The
// address chooses a cache line; the block is in one of the line's eight words. Only the thread that holds a block
// touches its word, so there is no race. It needs no lock and no allocation.
class AllocationOwners {
 public:
  // The calling thread has allocated the block. If the block's line is full, its thread stays unknown, and the block
  // counts as freed by its own thread.
  void Add(const void* block);
  // Call before the block is freed: afterwards another thread may get the same address. Returns true if another thread
  // had allocated the block; false for blocks from before counting was switched on.
  bool RemoveOfAnother(const void* block);
  // Forgets all blocks: those that were freed while counting was off are still in the table.
  void Forget() {
    for (Line& line : lines_) {
      for (std::atomic<uint64_t>& word : line.words) word.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr size_t kLines = 1 << 17;  // 8 MiB, touched where blocks fall: a million blocks in use
  struct alignas(64) Line {
    std::atomic<uint64_t> words[8];
  };
  Line& LineOf(uint64_t block);
  Line lines_[kLines];
};

// A bounded table of the call stacks that allocated memory. Writers need no lock and no allocation. Entries are never
// removed, so readers need no lock either.
class AllocationStacks {
 public:
  static constexpr int kMaxFrames = 64;
  static constexpr size_t kMaxStacks = 4096;
  struct Entry {
    std::atomic<uint64_t> key{0};  // hash of the frames; 0: free
    std::atomic<int> depth{0};     // set after the frames
    std::atomic<uint64_t> samples{0};
    std::atomic<uint64_t> bytes{0};
    void* frames[kMaxFrames] = {};  // return addresses, innermost first
  };

  // Samples every n-th allocation on average; 0: none. Multiples of the golden ratio spread evenly over periodic
  // patterns. A fixed step of n would always hit the same allocations of a call that makes, say, twelve.
  void SampleEvery(uint32_t n) {
    every.store(n, std::memory_order_relaxed);
    below_.store(n == 0 ? 0 : UINT64_MAX / n, std::memory_order_relaxed);
  }
  bool IsSampled(uint64_t number) const { return number * kGoldenGamma < below_.load(std::memory_order_relaxed); }
  // Runs inside malloc: takes the stack of its caller's callers.
  void Take(uint64_t bytes);

  std::atomic<uint32_t> every{0};
  std::atomic<uint64_t> lost{0};  // allocations that found no free entry in the table
  Entry entries[kMaxStacks];

 private:
  void Add(void* const* frames, int depth, uint64_t bytes);
  std::atomic<uint64_t> below_{0};
};

// The hooks define these; most programs do not link the hooks.
extern AllocationCounters allocation_counters;
extern AllocationStacks allocation_stacks;
extern AllocationOwners allocation_owners;

}  // namespace cqbench
