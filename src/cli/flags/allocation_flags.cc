#include "src/cli/flags/allocation_flags.h"

#include <utility>

#include "src/observe/allocations/allocations.h"

namespace cqbench {

AllocationFlags::AllocationFlags(CLI::App& app, AllocationOptions& options, std::string program)
    : options_(options), program_(std::move(program)) {
  sites_ = app.add_flag("--allocation-sites", options.sites,
                        absl::StrCat("Show the functions that allocate most (needs ", program_, "_counting)."));
  stacks_ = app.add_option("--allocation-stacks", options.stacks,
                           "Write sampled allocation stacks to FILE, folded for flame graphs.")
                ->type_name("FILE");
}

void AllocationFlags::AddMax(CLI::App& app) {
  max_ = AddNumber(app, "--max-allocs-per-rpc", options_.max_per_rpc, 0.0, 1e9,
                   absl::StrCat("Maximum allocations per call of both ends, or exit status 1 (needs ", program_,
                                "_counting)."))
             ->type_name("N");
}

void AllocationFlags::Resolve() const {
  for (const CLI::Option* option : {sites_, stacks_, max_}) {
    if (option == nullptr || option->count() == 0 || CanCountAllocations()) continue;
    BadCombination(option->get_name(),
                   absl::StrCat("needs a program that counts allocations, ", program_,
                                "_counting (configure with -DCQBENCH_BUILD_ALLOCATION_COUNTING=ON)"));
  }
}

absl::Status AllocationReport::Begin() {
  if (!options_.sampling()) return absl::OkStatus();
  SampleAllocationStacks();
  if (options_.stacks.empty()) return absl::OkStatus();
  const absl::Status opened = file_.Open(options_.stacks);
  if (opened.ok()) return opened;
  return absl::InvalidArgumentError(absl::StrCat("--allocation-stacks: ", opened.message()));
}

absl::Status AllocationReport::End(std::optional<AllocationSites>& described) {
  if (!options_.sampling()) return absl::OkStatus();
  SetCountingAllocations(false);
  const std::vector<AllocationStack> stacks = SampledAllocationStacks();
  if (options_.sites) described = DescribeAllocationSites(stacks);
  if (options_.stacks.empty()) return absl::OkStatus();
  const absl::Status written = file_.Commit(FoldAllocationStacks(stacks));
  if (written.ok()) return written;
  return absl::UnavailableError(absl::StrCat("--allocation-stacks: ", written.message()));
}

}  // namespace cqbench
