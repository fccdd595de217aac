// Several client processes that measure together: the part of the client's command line about them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cqbench/ranks.h"
#include "cqbench/run_config.h"
#include "src/cli/flags/flags.h"
#include "src/load/run/runner.h"

namespace cqbench {

struct RankOptions {
  std::optional<RankId> id;        // absent: this process measures alone
  std::string rendezvous;          // folder; empty: none
  std::vector<std::string> merge;  // result files of ranks, to merge instead of measuring
  std::optional<Nanos> start_at;   // wall clock, since 1970
  Nanos patience_ns = 60 * kNanosPerSecond;
};

class RankFlags {
 public:
  // `launched`: who this is, if a launcher has said so. Adds the options to `app`. Both references must outlive this.
  RankFlags(CLI::App& app, RankOptions& options, const std::optional<RankId>& launched);
  RankFlags(const RankFlags&) = delete;
  RankFlags& operator=(const RankFlags&) = delete;
  // After everything else of `run` is known: checks what does not go with ranks and leaves this rank's share of the
  // load in `run`. Throws CLI errors.
  void Resolve(RunConfig& run, const RunGoals& goals);

 private:
  void CheckMerge() const;
  void ResolveWho();
  void CheckGoals(const RunConfig& run, const RunGoals& goals) const;
  void TakeShare(RunConfig& run) const;
  uint64_t ShareOfCalls(const char* flag, uint64_t calls) const;

  const CLI::App& app_;
  RankOptions& options_;
  const bool launched_;
  int index_ = -1;
  int count_ = 0;
  bool per_rank_ = false;
  CLI::Option *ranks_, *rank_, *rendezvous_, *start_at_, *timeout_, *per_rank_option_;
};

// How the ranks that the flags speak of agree; nullptr where they do not speak of any. INVALID_ARGUMENT with a line
// that names the flag.
absl::StatusOr<std::unique_ptr<Ranks>> MakeRanks(const RankOptions& options);

}  // namespace cqbench
