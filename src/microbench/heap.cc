#include "src/microbench/heap.h"

#include <cstddef>
#include <type_traits>

namespace cqbench::microbench {
namespace {

// Counts between Start() and Stop().
struct Asked {
  bool now = false;
  std::string benchmark;
  AllocationCounts counts;
  HeapChange change;
};
Asked asked;

// Newer releases keep the result itself in the run; the pointer needs no repair.
template <typename Run>
void SetResult(Run& run, const benchmark::MemoryManager::Result& result) {
  if constexpr (std::is_pointer_v<decltype(run.memory_result)>) run.memory_result = &result;
}

}  // namespace

void HeapUse::Start() {
  asked = {};
  asked.now = true;
}

void HeapUse::Stop(Result& result) {
  asked.now = false;
  result.num_allocs = static_cast<int64_t>(asked.counts.allocations);
  result.total_allocated_bytes = static_cast<int64_t>(asked.counts.bytes);
  result.max_bytes_used = asked.change.most_grown;
  result.net_heap_growth = asked.change.grown;
  results_[asked.benchmark].push_back(result);
}

const benchmark::MemoryManager::Result* HeapUse::Find(const std::string& benchmark, int64_t repetition) const {
  const auto found = results_.find(benchmark);
  if (found == results_.end() || repetition < 0) return nullptr;
  const auto index = static_cast<size_t>(repetition);
  return index < found->second.size() ? &found->second[index] : nullptr;
}

CountedPart::CountedPart(const std::string& benchmark) {
  if (!asked.now) return;
  asked.benchmark = benchmark;
  before_ = CountedAllocations();
  SetCountingAllocations(true);
}

CountedPart::~CountedPart() {
  if (!asked.now) return;
  SetCountingAllocations(false);
  const AllocationCounts after = CountedAllocations();
  asked.counts = {after.allocations - before_.allocations, after.bytes - before_.bytes};
  asked.change = ChangeOfHeap();
}

bool WithHeapUse::ReportContext(const Context& context) {
  to_.SetOutputStream(&GetOutputStream());
  to_.SetErrorStream(&GetErrorStream());
  return to_.ReportContext(context);
}

void WithHeapUse::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> mended = runs;
  for (Run& run : mended) {
    if (run.run_type != Run::RT_Iteration) continue;
    const auto* result = heap_.Find(run.run_name.function_name, run.repetition_index);
    if (result != nullptr) SetResult(run, *result);
  }
  to_.ReportRuns(mended);
}

}  // namespace cqbench::microbench
