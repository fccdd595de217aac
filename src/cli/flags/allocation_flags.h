// Flags of both programs about allocations, which only the counting ones can honour.
#pragma once

#include <string>

#include "src/cli/flags/flags.h"
#include "src/cli/flags/output_file.h"
#include "src/result/allocation_sites.h"

namespace cqbench {

struct AllocationOptions {
  bool sites = false;
  std::string stacks;       // file; empty: none
  double max_per_rpc = -1;  // below 0: whatever there is

  bool sampling() const { return sites || !stacks.empty(); }
};

class AllocationFlags {
 public:
  // Both must outlive it. `program` is what has the flags.
  AllocationFlags(CLI::App& app, AllocationOptions& options, std::string program);
  // A client's, in addition.
  void AddMax(CLI::App& app);
  // Throws CLI errors.
  void Resolve() const;

 private:
  AllocationOptions& options_;
  const std::string program_;
  CLI::Option *sites_, *stacks_, *max_ = nullptr;
};

// Starts counting before the run and reports after it.
class AllocationReport {
 public:
  explicit AllocationReport(const AllocationOptions& options) : options_(options) {}
  // The message is for people, and names the flag.
  absl::Status Begin();
  // When nothing is counted any more. `described` is filled with --allocation-sites only.
  absl::Status End(std::optional<AllocationSites>& described);

 private:
  const AllocationOptions options_;
  OutputFile file_;
};

}  // namespace cqbench
