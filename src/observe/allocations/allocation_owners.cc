// Remembers which thread allocated each block, in the words of a table.
#include "src/observe/allocations/allocation_hooks.h"

namespace cqbench {

constinit AllocationOwners allocation_owners;

namespace {

// An address has 47 bits, and the allocator leaves the last four 0. The other bits of a word hold the thread's number.
constexpr uint64_t kThreadBits = 20, kThreads = uint64_t{1} << kThreadBits;

uint64_t BlockOf(const void* memory) {
  return reinterpret_cast<uintptr_t>(memory) >> 4;
}

// Numbers begin at 1, so that no block's word is 0; after a million threads they repeat. The variable is in the
// program's own thread-local storage, which exists from a thread's start.
[[gnu::tls_model("initial-exec")]] constinit thread_local uint64_t this_thread = 0;
constinit std::atomic<uint64_t> threads{0};

uint64_t ThisThread() {
  while (this_thread == 0) this_thread = (threads.fetch_add(1, std::memory_order_relaxed) + 1) % kThreads;
  return this_thread;
}

}  // namespace

AllocationOwners::Line& AllocationOwners::LineOf(uint64_t block) {
  return lines_[(block * kGoldenGamma) >> 47];  // as many bits as there are lines
}

void AllocationOwners::Add(const void* memory) {
  const uint64_t block = BlockOf(memory);
  for (std::atomic<uint64_t>& word : LineOf(block).words) {
    uint64_t free = 0;
    if (word.compare_exchange_strong(free, block << kThreadBits | ThisThread(), std::memory_order_relaxed)) return;
  }
}

bool AllocationOwners::RemoveOfAnother(const void* memory) {
  const uint64_t block = BlockOf(memory);
  for (std::atomic<uint64_t>& word : LineOf(block).words) {
    const uint64_t there = word.load(std::memory_order_relaxed);
    if (there >> kThreadBits != block) continue;
    word.store(0, std::memory_order_relaxed);
    return there % kThreads != ThisThread();
  }
  return false;
}

}  // namespace cqbench
