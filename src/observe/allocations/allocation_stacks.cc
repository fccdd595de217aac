// Records stacks of allocations with the compiler's own unwinder, which needs neither frame pointers nor memory.
#include <unwind.h>

#include <algorithm>

#include "src/observe/allocations/allocation_hooks.h"

namespace cqbench {

constinit AllocationStacks allocation_stacks;

namespace {

constexpr size_t kMaxProbes = 64;

struct Walk {
  void* frames[AllocationStacks::kMaxFrames];
  int depth = 0;
};

_Unwind_Reason_Code Step(_Unwind_Context* context, void* into) {
  Walk& walk = *static_cast<Walk*>(into);
  const auto address = _Unwind_GetIP(context);
  if (address == 0 || walk.depth == AllocationStacks::kMaxFrames) return _URC_END_OF_STACK;
  walk.frames[walk.depth++] = reinterpret_cast<void*>(address);  // NOLINT: the frame is an address
  return _URC_NO_REASON;
}

uint64_t KeyOf(void* const* frames, int depth) {
  uint64_t key = 0xCBF29CE484222325u;
  for (int i = 0; i < depth; ++i) {
    key = (key ^ reinterpret_cast<uintptr_t>(frames[i])) * 0x100000001B3u;
    key ^= key >> 32;
  }
  return key | 1;
}

// Guards against the unwinder's own allocations. The variable is in the program's own thread-local storage, which
// exists from a thread's start.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool walking = false;

}  // namespace

[[gnu::noinline]] void AllocationStacks::Take(uint64_t bytes) {
  if (walking) return;
  walking = true;
  Walk walk;
  _Unwind_Backtrace(Step, &walk);
  if (walk.depth > 0) Add(walk.frames, walk.depth, bytes);
  walking = false;
}

void AllocationStacks::Add(void* const* frames, int depth, uint64_t bytes) {
  const uint64_t key = KeyOf(frames, depth);
  for (size_t i = 0; i < kMaxProbes; ++i) {
    Entry& entry = entries[(key / 2 + i) % kMaxStacks];
    uint64_t there = entry.key.load(std::memory_order_relaxed);
    if (there == 0 && entry.key.compare_exchange_strong(there, key, std::memory_order_relaxed)) {
      std::copy(frames, frames + depth, entry.frames);
      entry.depth.store(depth, std::memory_order_release);
      there = key;
    }
    if (there != key) continue;
    entry.samples.fetch_add(1, std::memory_order_relaxed);
    entry.bytes.fetch_add(bytes, std::memory_order_relaxed);
    return;
  }
  lost.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cqbench
