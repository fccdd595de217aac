// Allocation sites of a program, from the stacks of a sample of its allocations. Only in programs that count them
// (allocations.h), and only while they do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cqbench {

// One of this many allocations has its stack taken: some 10 us each, in a pass that is not timed.
inline constexpr uint32_t kAllocationSampleEvery = 16;

// Begins now; 0: none. Without the hooks nothing happens.
void SampleAllocationStacks(uint32_t every = kAllocationSampleEvery);

// Functions by name without parameters and template arguments, outermost first; where there is no name (static
// functions of libraries without debugging symbols have none) "libgrpc.so.29+0x1f3a". What only hands on to the
// allocator (operator new, gpr_malloc, the standard library) is not at its end.
struct AllocationStack {
  std::vector<std::string> frames;
  uint64_t samples = 0;
  uint64_t bytes = 0;  // of the samples
};
// Returns the sites so far. Allocates, so counting must be off.
std::vector<AllocationStack> SampledAllocationStacks();

// A function that asks for memory, and who called it. Estimates.
struct AllocationSite {
  std::string function;
  std::string caller;  // empty: none
  double allocations_share = 0;
  double bytes_share = 0;
};

struct AllocationSites {
  uint64_t calls = 0;  // in which so much was counted, exactly:
  uint64_t allocations = 0;
  uint64_t bytes = 0;
  uint32_t every = 0;  // one of this number of allocations was sampled
  uint64_t samples = 0;
  uint64_t lost = 0;                  // samples for which there was no room
  std::vector<AllocationSite> sites;  // by their share of allocations

  // Allocations of a site: per call if calls were counted, else in all.
  double AllocationsOf(const AllocationSite& site) const { return site.allocations_share * PerCall(allocations); }
  double BytesOf(const AllocationSite& site) const { return site.bytes_share * PerCall(bytes); }

 private:
  double PerCall(uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(calls > 0 ? calls : 1);
  }
};
// Describes the sites of this process, with its counts.
AllocationSites DescribeAllocationSites(const std::vector<AllocationStack>& stacks);

// A line per stack, "outer;inner;site BYTES", as tools for flame graphs read it; bytes are estimates of all.
std::string FoldAllocationStacks(const std::vector<AllocationStack>& stacks);

}  // namespace cqbench
