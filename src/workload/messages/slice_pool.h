// Memory for what is sent, used again and again: the buffer-reusing serializer writes into it and the library sends it
// from there.
#pragma once

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>

namespace cqbench {

// Buffers of a few sizes, of the process. Each thread has a stock, so that the lock of what all share is taken once in
// many slices. Small slices are cut from a buffer of the thread's until it is used up: then the library's count of
// references, which it allocates for each buffer, is allocated for many slices at once. A buffer goes to the stock of
// the thread that drops the last slice of it, whichever that is; what stocks and the common store do not hold goes back
// to the allocator.
class SlicePool {
 public:
  static constexpr size_t kBuffer = size_t{16} << 10;     // the smallest, from which small slices are cut
  static constexpr size_t kMaxCut = kBuffer / 4;          // larger slices have a buffer of their own
  static constexpr size_t kMaxPooled = size_t{1} << 20;   // still larger ones the allocator's memory
  static constexpr size_t kMaxStored = size_t{64} << 20;  // bytes of the common store

  // `size` bytes that only the caller writes to, and only before it gives the slice away. Any thread.
  static grpc::Slice Make(size_t size);
  static uint8_t* BytesOf(const grpc::Slice& slice) { return const_cast<uint8_t*>(slice.begin()); }

  // Buffers that were taken from the allocator, and those that went back. For tests.
  static uint64_t Allocated();
  static uint64_t Freed();
};

}  // namespace cqbench
