#include "src/result/allocation_sites.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "src/observe/allocations/allocation_hooks.h"
#include "src/observe/allocations/allocations.h"

namespace cqbench {

// The symbol is weak: its address is null if the program does not link the hooks.
[[gnu::weak]] extern AllocationStacks allocation_stacks;

namespace {

// "void std::vector<A, B>::push_back<C>(D const&) const" -> "std::vector::push_back"
std::string WithoutArguments(const std::string& demangled) {
  const std::string name = absl::StrReplaceAll(demangled, {{"(anonymous namespace)", "{anonymous}"}});
  std::string kept;
  int depth = 0;
  for (const char c : name) {
    const bool is_operator = absl::EndsWith(kept, "operator") || absl::EndsWith(kept, "operator<");
    if (depth == 0 && c == '(' && !is_operator) break;
    if (c == '<' && !is_operator) ++depth;
    if (depth == 0) kept.push_back(c);
    if (c == '>' && depth > 0) --depth;
  }
  const size_t space = kept.rfind(' ');  // cuts the return type of a template function
  if (space == std::string::npos || absl::EndsWith(kept.substr(0, space), "operator")) return kept;
  return kept.substr(space + 1);
}

std::string NameOf(void* return_address) {
  // The call is before its return address, which may already be in another function.
  char* const address = static_cast<char*>(return_address) - 1;
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return absl::StrCat("0x", absl::Hex(address));
  if (info.dli_sname == nullptr) {
    const std::string module = info.dli_fname;
    return absl::StrCat(module.substr(module.rfind('/') + 1), "+0x",
                        absl::Hex(address - static_cast<char*>(info.dli_fbase)));
  }
  int status = 0;
  char* const demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = status == 0 ? WithoutArguments(demangled) : std::string(info.dli_sname);
  std::free(demangled);
  return name;
}

// Returns true for functions that allocate on behalf of their callers.
bool IsAllocator(const std::string& name) {
  for (const char* prefix : {"std::", "__gnu_cxx::", "operator new", "gpr_malloc", "gpr_zalloc", "gpr_realloc",
                             "cqbench::AllocationStacks::"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  for (const char* exact : {"malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign"}) {
    if (name == exact) return true;
  }
  return false;
}

// The hooks are the innermost frames; frames inside malloc have no useful name.
size_t FramesOfHooks(const std::vector<std::string>& names) {
  constexpr size_t kAtMost = 6;
  for (size_t i = std::min(kAtMost, names.size()); i-- > 0;) {
    if (names[i] != "operator new" && IsAllocator(names[i]) && !absl::StartsWith(names[i], "std::")) return i + 1;
  }
  return 0;
}

std::vector<std::string> NamesOf(const AllocationStacks::Entry& entry, int depth, std::map<void*, std::string>& known) {
  std::vector<std::string> names;
  for (int i = 0; i < depth; ++i) {
    std::string& name = known[entry.frames[i]];
    if (name.empty()) name = NameOf(entry.frames[i]);
    names.push_back(name);
  }
  size_t skip = FramesOfHooks(names);
  while (skip < names.size() && IsAllocator(names[skip])) ++skip;
  if (skip == names.size()) skip = 0;
  return {names.rbegin(), names.rend() - static_cast<std::ptrdiff_t>(skip)};
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void SampleAllocationStacks(uint32_t every) {
  if (&allocation_stacks != nullptr) allocation_stacks.SampleEvery(every);
}

std::vector<AllocationStack> SampledAllocationStacks() {
  std::vector<AllocationStack> stacks;
  if (&allocation_stacks == nullptr) return stacks;
  std::map<void*, std::string> known;
  for (const AllocationStacks::Entry& entry : allocation_stacks.entries) {
    const int depth = entry.depth.load(std::memory_order_acquire);
    if (depth == 0) continue;
    stacks.push_back({NamesOf(entry, depth, known), entry.samples.load(std::memory_order_relaxed),
                      entry.bytes.load(std::memory_order_relaxed)});
  }
  return stacks;
}

AllocationSites DescribeAllocationSites(const std::vector<AllocationStack>& stacks) {
  AllocationSites described;
  if (&allocation_stacks == nullptr) return described;
  const AllocationCounts counted = CountedAllocations();
  described.calls = CountedCalls();
  described.allocations = counted.allocations;
  described.bytes = counted.bytes;
  described.every = allocation_stacks.every.load(std::memory_order_relaxed);
  described.lost = allocation_stacks.lost.load(std::memory_order_relaxed);
  std::map<std::pair<std::string, std::string>, AllocationCounts> sums;
  AllocationCounts whole;
  for (const AllocationStack& stack : stacks) {
    const auto& frames = stack.frames;
    AllocationCounts& sum = sums[{frames.back(), frames.size() > 1 ? frames[frames.size() - 2] : ""}];
    for (AllocationCounts* into : {&sum, &whole}) {
      into->allocations += stack.samples;
      into->bytes += stack.bytes;
    }
  }
  described.samples = whole.allocations;
  for (const auto& [where, sum] : sums) {
    described.sites.push_back(
        {where.first, where.second, Share(sum.allocations, whole.allocations), Share(sum.bytes, whole.bytes)});
  }
  std::stable_sort(described.sites.begin(), described.sites.end(),
                   [](const auto& a, const auto& b) { return a.allocations_share > b.allocations_share; });
  return described;
}

std::string FoldAllocationStacks(const std::vector<AllocationStack>& stacks) {
  uint64_t sampled = 0;
  for (const AllocationStack& stack : stacks) sampled += stack.bytes;
  const auto counted = static_cast<double>(CountedAllocations().bytes);
  std::map<std::string, double> lines;  // adds up stacks that differ only in addresses
  for (const AllocationStack& stack : stacks) {
    lines[absl::StrReplaceAll(absl::StrJoin(stack.frames, ";"), {{"\n", " "}})] +=
        Share(stack.bytes, sampled) * counted;
  }
  std::string folded;
  for (const auto& [frames, bytes] : lines) absl::StrAppend(&folded, frames, " ", static_cast<uint64_t>(bytes), "\n");
  return folded;
}

}  // namespace cqbench
