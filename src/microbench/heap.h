// Allocations of a benchmark, as Google Benchmark asks for them: in a run of its own after the timed one.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

#include "src/observe/allocations/allocations.h"

namespace cqbench::microbench {

// Only what is inside a CountedPart counts: Google Benchmark's own brackets are around the whole function, with all
// that it prepares. Both are used by the main thread; allocations of all threads count.
class HeapUse final : public benchmark::MemoryManager {
 public:
  void Start();
  // Releases differ in which of the two is the interface, and the other one is deprecated or gone; hence no `override`
  // in this class.
  void Stop(Result& result);
  void Stop(Result* result) { Stop(*result); }

  // Returns the counts of that repetition of a benchmark, by its registered name; nullptr if nothing was counted. The
  // pointer is valid until the next Stop().
  const Result* Find(const std::string& benchmark, int64_t repetition) const;

 private:
  std::map<std::string, std::vector<Result>> results_;
};

// From here to the end of the block, if Google Benchmark has asked. `benchmark`: the name it was registered with.
class CountedPart {
 public:
  explicit CountedPart(const std::string& benchmark);
  ~CountedPart();
  CountedPart(const CountedPart&) = delete;
  CountedPart& operator=(const CountedPart&) = delete;

 private:
  AllocationCounts before_;
};

// Hands on to another reporter, with what `heap` found. Google Benchmark 1.7.1 keeps the results of all repetitions in
// a vector and pointers into it while it still grows, so that all but the last few point to memory that is gone.
class WithHeapUse final : public benchmark::BenchmarkReporter {
 public:
  // Both must outlive it.
  WithHeapUse(benchmark::BenchmarkReporter& to, const HeapUse& heap) : to_(to), heap_(heap) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override { to_.Finalize(); }

 private:
  benchmark::BenchmarkReporter& to_;
  const HeapUse& heap_;
};

}  // namespace cqbench::microbench
