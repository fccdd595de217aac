// This test is a separate program: it links the hooks, so that allocations are counted.
#include "src/observe/allocations/allocations.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <latch>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace cqbench {
namespace {

// Prevents the compiler from removing an allocation whose memory is unused.
template <typename T>
T* Used(T* memory) {
  asm volatile("" : "+r"(memory) : : "memory");
  return memory;
}

template <typename F>
AllocationCounts Counted(F&& allocate) {
  const AllocationCounts before = CountedAllocations();
  SetCountingAllocations(true);
  allocate();
  SetCountingAllocations(false);
  const AllocationCounts after = CountedAllocations();
  return {after.allocations - before.allocations, after.bytes - before.bytes};
}

void ExpectCounts(const AllocationCounts& counts, uint64_t allocations, uint64_t bytes) {
  EXPECT_EQ(counts.allocations, allocations);
  EXPECT_EQ(counts.bytes, bytes);
}

TEST(Allocations, CanBeCountedHere) {
  EXPECT_TRUE(CanCountAllocations());
}

TEST(Allocations, NothingIsNothing) {
  ExpectCounts(Counted([] {}), 0, 0);
}

TEST(Allocations, New) {
  ExpectCounts(Counted([] { delete Used(new uint64_t(1)); }), 1, 8);
}

TEST(Allocations, NewArray) {
  ExpectCounts(Counted([] { delete[] Used(new char[100]); }), 1, 100);
}

TEST(Allocations, AlignedNew) {
  struct alignas(256) Line {
    char bytes[256];
  };
  ExpectCounts(Counted([] {
                 Line* line = Used(new Line);
                 EXPECT_EQ(reinterpret_cast<uintptr_t>(line) % alignof(Line), 0u);
                 delete line;
               }),
               1, 256);
}

TEST(Allocations, Malloc) {
  ExpectCounts(Counted([] {
                 std::free(Used(std::malloc(10)));
                 std::free(Used(std::malloc(20)));
               }),
               2, 30);
}

TEST(Allocations, CallocIsTheProductAndZero) {
  ExpectCounts(Counted([] {
                 char* memory = Used(static_cast<char*>(std::calloc(7, 6)));
                 for (int i = 0; i < 42; ++i) EXPECT_EQ(memory[i], 0);
                 std::free(memory);
               }),
               1, 42);
}

TEST(Allocations, ReallocIsOneOfTheNewSizeAndKeepsTheContents) {
  char* memory = Used(static_cast<char*>(std::malloc(8)));
  std::memcpy(memory, "content", 8);
  ExpectCounts(Counted([&] { memory = Used(static_cast<char*>(std::realloc(memory, 100'000))); }), 1, 100'000);
  EXPECT_STREQ(memory, "content");
  ExpectCounts(Counted([&] { memory = Used(static_cast<char*>(std::realloc(memory, 8))); }), 1, 8);
  EXPECT_STREQ(memory, "content");
  std::free(memory);
}

TEST(Allocations, ReallocOfNothingIsOneAndToNothingIsNone) {
  void* memory = nullptr;
  ExpectCounts(Counted([&] { memory = Used(std::realloc(nullptr, 5)); }), 1, 5);
  ExpectCounts(Counted([&] { memory = Used(std::realloc(memory, 0)); }), 0, 0);
  EXPECT_EQ(memory, nullptr);
}

TEST(Allocations, AlignedAllocAndMemalign) {
  ExpectCounts(Counted([] {
                 void* a = Used(std::aligned_alloc(64, 128));
                 void* b = Used(memalign(4096, 10));
                 EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
                 EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % 4096, 0u);
                 std::free(a);
                 std::free(b);
               }),
               2, 138);
}

TEST(Allocations, PosixMemalign) {
  ExpectCounts(Counted([] {
                 void* memory = nullptr;
                 EXPECT_EQ(posix_memalign(&memory, 1024, 33), 0);
                 EXPECT_EQ(reinterpret_cast<uintptr_t>(Used(memory)) % 1024, 0u);
                 std::free(memory);
               }),
               1, 33);
}

TEST(Allocations, PosixMemalignRefusesWhatGlibcRefuses) {
  int untouched = 0;
  for (size_t alignment : {size_t{0}, size_t{4}, size_t{24}}) {
    void* memory = &untouched;
    ExpectCounts(Counted([&] { EXPECT_EQ(posix_memalign(&memory, alignment, 8), EINVAL) << alignment; }), 0, 0);
    EXPECT_EQ(memory, &untouched);
  }
}

TEST(Allocations, WhatFailsIsNone) {
  volatile size_t too_much = PTRDIFF_MAX;
  ExpectCounts(Counted([&] {
                 void* memory = nullptr;
                 EXPECT_EQ(Used(std::malloc(too_much)), nullptr);
                 EXPECT_EQ(Used(std::calloc(too_much, 8)), nullptr);
                 errno = 0;
                 EXPECT_EQ(posix_memalign(&memory, 64, too_much), ENOMEM);
                 EXPECT_EQ(errno, 0);
               }),
               0, 0);
}

// libstdc++ doubles the capacity: 1, 2, 4, …, 1024 elements.
TEST(Allocations, VectorGrowth) {
  ExpectCounts(Counted([] {
                 std::vector<uint32_t> numbers;
                 for (uint32_t i = 0; i < 1000; ++i) numbers.push_back(i);
                 Used(numbers.data());
               }),
               11, 2047 * sizeof(uint32_t));
}

// The call to malloc is inside libc.so and libstdc++.so here.
TEST(Allocations, ThoseOfSharedLibraries) {
  ExpectCounts(Counted([] { std::free(Used(strdup("four"))); }), 1, 5);
  const std::string longer(63, 'x');
  ExpectCounts(Counted([&] { Used(std::make_unique<std::string>(longer).get()); }), 2, sizeof(std::string) + 64);
}

TEST(Allocations, AreNotCountedWhileOff) {
  const AllocationCounts before = CountedAllocations();
  delete Used(new int(1));
  std::free(Used(std::calloc(3, 4)));
  const AllocationCounts after = CountedAllocations();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.bytes, before.bytes);
}

uint64_t FreedElsewhere(const std::function<void()>& allocate_and_free) {
  const uint64_t before = CountedAllocations().freed_elsewhere;
  SetCountingAllocations(true);
  allocate_and_free();
  SetCountingAllocations(false);
  return CountedAllocations().freed_elsewhere - before;
}

TEST(Allocations, FreedByAnotherThread) {
  std::vector<void*> blocks(1000);
  std::latch asked(1);
  std::latch freed(1);
  std::thread other([&] {
    asked.wait();
    for (size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
    blocks[1] = Used(std::realloc(blocks[1], 5'000));  // from now on its own
    freed.count_down();
  });
  const uint64_t found = FreedElsewhere([&] {
    for (void*& block : blocks) block = Used(std::malloc(30));
    asked.count_down();
    freed.wait();
    for (size_t i = 1; i < blocks.size(); i += 2) std::free(blocks[i]);
  });
  other.join();
  EXPECT_EQ(found, 500 + 1 + 1);
}

TEST(Allocations, FreedByTheThreadThatAsked) {
  EXPECT_EQ(FreedElsewhere([] {
              for (int i = 0; i < 100'000; ++i) {
                std::unique_ptr<char[]> block(Used(new char[static_cast<size_t>(i) % 5'000 + 1]));
                std::free(Used(std::aligned_alloc(64, 128)));
              }
            }),
            0u);
}

// The thread of a block from before counting is unknown, even if an earlier block at the same address had a known one.
TEST(Allocations, OlderBlocksAreNobodys) {
  void* block = nullptr;
  std::thread([&] { EXPECT_EQ(FreedElsewhere([&] { block = Used(std::malloc(1'000)); }), 0u); }).join();
  EXPECT_EQ(FreedElsewhere([&] { std::free(block); }), 0u);
}

TEST(Allocations, OfAllThreadsAddUp) {
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 500'000;
  std::latch ready(kThreads + 1);
  std::latch counting(1);
  std::latch done(kThreads);
  std::latch counted(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      counting.wait();
      for (uint64_t n = 0; n < kEach; ++n) std::free(Used(std::malloc(3)));
      done.count_down();
      counted.wait();  // allocations at the end of a thread do not matter here
    });
  }
  ready.arrive_and_wait();
  const AllocationCounts counts = Counted([&] {
    counting.count_down();
    done.wait();
  });
  counted.count_down();
  for (std::thread& thread : threads) thread.join();
  ExpectCounts(counts, kThreads * kEach, kThreads * kEach * 3);
}

// Allocates before main(): the program crashes here if the hooks do not allow that.
const std::unique_ptr<int> before_main = std::make_unique<int>(*Used(std::make_unique<int>(7).get()));

TEST(Allocations, WorkBeforeMain) {
  EXPECT_EQ(*before_main, 7);
}

// The allocator rounds each block up by a few bytes.
TEST(HeapChange, IsWhatIsHeldAndTheMostThatWas) {
  void* kept = nullptr;
  Counted([&] {
    for (int i = 0; i < 3; ++i) std::free(Used(std::malloc(10'000)));
    kept = Used(std::malloc(1000));
    kept = Used(std::realloc(kept, 5000));
  });
  EXPECT_NEAR(static_cast<double>(ChangeOfHeap().grown), 5000, 64);
  EXPECT_NEAR(static_cast<double>(ChangeOfHeap().most_grown), 10'000, 64);
  Counted([&] { std::free(kept); });
  EXPECT_NEAR(static_cast<double>(ChangeOfHeap().grown), -5000, 64) << "from before";
  EXPECT_EQ(ChangeOfHeap().most_grown, 0);
}

}  // namespace
}  // namespace cqbench
