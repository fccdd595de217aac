// What the allocation hooks share with the functions of src/observe/allocations/allocations.h and
// src/result/allocation_sites.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cqbench {

// Written inside malloc, by threads of any age and before main(): constant-initialized.
struct AllocationCounters {
  std::atomic<bool> on{false};
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> freed_elsewhere{0};
  // Of the heap, as the allocator rounds it, since counting was switched on: more than then, and the most of that.
  std::atomic<int64_t> grown{0};
  std::atomic<int64_t> most_grown{0};
  std::atomic<uint64_t> calls{0};  // that were made meanwhile, as whoever counts them says
};

// Which thread asked for each block that is in use. A word is a block's address and its thread's number; a block is in
// one of the eight words of a cache line, which its address chooses. Whoever calls for a block has it to itself, so
// that there is no race about its word. Without a lock or an allocation.
class AllocationOwners {
 public:
  // The calling thread has got the block. Where its line is full it is not known, and counts as freed at home.
  void Add(const void* block);
  // It is about to be handed back: the address may be another thread's as soon as it is. Whether it was another thread
  // that had got it; false for blocks from before counting was switched on.
  bool RemoveOfAnother(const void* block);
  // All of them: what was freed while counting was off is still here.
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

// A bounded table of the stacks from which memory was asked for. Filled without a lock or an allocation; entries are
// never removed, so that a reader needs none either.
class AllocationStacks {
 public:
  static constexpr int kMaxFrames = 64;
  static constexpr size_t kMaxStacks = 4096;
  struct Entry {
    std::atomic<uint64_t> key{0};  // of the frames; 0: free
    std::atomic<int> depth{0};     // set when the frames are
    std::atomic<uint64_t> samples{0};
    std::atomic<uint64_t> bytes{0};
    void* frames[kMaxFrames] = {};  // return addresses, innermost first
  };

  // 0: none. Multiples of the golden ratio are spread evenly over every periodic pattern of allocations, which every
  // N-th one is not: calls that allocate twelve times each would always show the same ones.
  void LookAtEvery(uint32_t n) {
    every.store(n, std::memory_order_relaxed);
    below_.store(n == 0 ? 0 : UINT64_MAX / n, std::memory_order_relaxed);
  }
  bool IsLookedAt(uint64_t number) const {
    return number * 0x9E3779B97F4A7C15u < below_.load(std::memory_order_relaxed);
  }
  // Inside malloc: takes the stack of its caller's callers.
  void Take(uint64_t bytes);

  std::atomic<uint32_t> every{0};
  std::atomic<uint64_t> lost{0};  // found no place in the table
  Entry entries[kMaxStacks];

 private:
  void Add(void* const* frames, int depth, uint64_t bytes);
  std::atomic<uint64_t> below_{0};
};

// Defined by the hooks, which most programs do not link.
extern AllocationCounters allocation_counters;
extern AllocationStacks allocation_stacks;
extern AllocationOwners allocation_owners;

}  // namespace cqbench
