// Counts a benchmark's allocations. Google Benchmark asks for them in a separate run after the timed one.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

#include "src/observe/allocations/allocations.h"

namespace cqbench::microbench {

// Counts only inside a CountedPart: Google Benchmark's own brackets include all of the function's preparation. The main
// thread uses both; allocations of all threads count.
class HeapUse final : public benchmark::MemoryManager {
 public:
  void Start();
  // Which of the two overloads is the interface depends on the release of Google Benchmark; the other is deprecated or
  // gone. Therefore this class has no `override`.
  void Stop(Result& result);
  void Stop(Result* result) { Stop(*result); }

  // Returns the counts of that repetition of a benchmark, by its registered name, or nullptr if nothing was counted.
  // The pointer is valid until the next Stop().
  const Result* Find(const std::string& benchmark, int64_t repetition) const;

 private:
  std::map<std::string, std::vector<Result>> results_;
};

// Counts until the end of the block if Google Benchmark has asked for it. `benchmark`: the registered name.
class CountedPart {
 public:
  explicit CountedPart(const std::string& benchmark);
  ~CountedPart();
  CountedPart(const CountedPart&) = delete;
  CountedPart& operator=(const CountedPart&) = delete;

 private:
  AllocationCounts before_;
};

// Passes results to another reporter, with the allocations of `heap`. Google Benchmark 1.7.1 keeps pointers into a
// vector of results while the vector still grows, so most of these pointers are dangling.
class WithHeapUse final : public benchmark::BenchmarkReporter {
 public:
  // Both arguments must outlive the object.
  WithHeapUse(benchmark::BenchmarkReporter& to, const HeapUse& heap) : to_(to), heap_(heap) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override { to_.Finalize(); }

 private:
  benchmark::BenchmarkReporter& to_;
  const HeapUse& heap_;
};

}  // namespace cqbench::microbench
