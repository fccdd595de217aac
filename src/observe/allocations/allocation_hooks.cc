// Counts each call of the allocator's functions and passes it on to glibc under glibc's internal names. A program that
// links this file interposes them for its shared libraries as well. The memory is glibc's.
#include "src/observe/allocations/allocation_hooks.h"

#include <malloc.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#ifndef __GLIBC__
#error \
    "Counting allocations needs glibc: configure with -DCQBENCH_BUILD_TESTS=OFF -DCQBENCH_BUILD_ALLOCATION_COUNTING=OFF"
#endif

namespace cqbench {

constinit AllocationCounters allocation_counters;

namespace {

// This code runs inside malloc, so it must not allocate.

bool Counting() {
  return allocation_counters.on.load(std::memory_order_relaxed);
}

int64_t SizeOf(void* memory) {
  return static_cast<int64_t>(malloc_usable_size(memory));
}

void Grow(int64_t bytes) {
  const int64_t grown = allocation_counters.grown.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t most = allocation_counters.most_grown.load(std::memory_order_relaxed);
  while (grown > most &&
         !allocation_counters.most_grown.compare_exchange_weak(most, grown, std::memory_order_relaxed)) {
  }
}

void* Counted(void* memory, size_t bytes, int64_t instead_of = 0) {
  if (memory != nullptr && Counting()) {
    const uint64_t number = allocation_counters.allocations.fetch_add(1, std::memory_order_relaxed);
    allocation_counters.bytes.fetch_add(bytes, std::memory_order_relaxed);
    Grow(SizeOf(memory) - instead_of);
    allocation_owners.Add(memory);
    if (allocation_stacks.IsSampled(number)) allocation_stacks.Take(bytes);
  }
  return memory;
}

// Called before the memory is returned.
void Freeing(void* memory) {
  if (allocation_owners.RemoveOfAnother(memory)) {
    allocation_counters.freed_elsewhere.fetch_add(1, std::memory_order_relaxed);
  }
}

bool IsPowerOfTwo(size_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

}  // namespace
}  // namespace cqbench

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

void* malloc(size_t bytes) noexcept {
  return cqbench::Counted(__libc_malloc(bytes), bytes);
}

// The product cannot overflow if glibc has found the memory.
void* calloc(size_t count, size_t bytes) noexcept {
  return cqbench::Counted(__libc_calloc(count, bytes), count * bytes);
}

// realloc to size 0 frees and returns null, which is no allocation.
void* realloc(void* memory, size_t bytes) noexcept {
  const int64_t before = cqbench::Counting() ? cqbench::SizeOf(memory) : 0;
  if (memory != nullptr && cqbench::Counting()) cqbench::Freeing(memory);
  void* const got = cqbench::Counted(__libc_realloc(memory, bytes), bytes, before);
  if (got == nullptr && bytes == 0) cqbench::Grow(-before);
  return got;
}

void free(void* memory) noexcept {
  if (memory != nullptr && cqbench::Counting()) {
    cqbench::Grow(-cqbench::SizeOf(memory));
    cqbench::Freeing(memory);
  }
  __libc_free(memory);
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  return cqbench::Counted(__libc_memalign(alignment, bytes), bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return cqbench::Counted(__libc_memalign(alignment, bytes), bytes);
}

// posix_memalign has no internal name in glibc. It reports errors by its result and leaves errno alone.
int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  if (alignment % sizeof(void*) != 0 || !cqbench::IsPowerOfTwo(alignment)) return EINVAL;
  const int saved = errno;
  void* const got = cqbench::Counted(__libc_memalign(alignment, bytes), bytes);
  errno = saved;
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}

}  // extern "C"
