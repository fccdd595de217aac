#include "src/cli/client/rank_flags.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "src/ranks/file_ranks.h"
#include "src/ranks/start_at.h"

namespace cqbench {
namespace {

// Nanoseconds since 1970.
absl::StatusOr<Nanos> ParseWallTime(absl::string_view text) {
  absl::Time time;
  std::string why;
  if (double seconds = 0; absl::SimpleAtod(text, &seconds)) {
    time = std::isfinite(seconds) ? absl::UnixEpoch() + absl::Seconds(seconds) : absl::InfiniteFuture();
  } else if (!absl::ParseTime(absl::RFC3339_full, text, &time, &why)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is not a time: seconds since 1970, as date +%s prints, or 2026-01-31T12:00:00+01:00"));
  }
  // Nanoseconds of this range fit into int64.
  if (time > absl::UnixEpoch() && time < absl::FromUnixSeconds(9'000'000'000)) return absl::ToUnixNanos(time);
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a time between 1970 and 2255"));
}

}  // namespace

RankFlags::RankFlags(CLI::App& app, RankOptions& options, const std::optional<RankId>& launched)
    : app_(app), options_(options), launched_(launched.has_value()) {
  options_.id = launched;
  ranks_ =
      AddNumber(app, "--ranks", count_, 1, kMaxRanks, "Number of clients that measure together and share the load.");
  rank_ = AddNumber(app, "--rank", index_, 0, kMaxRanks - 1, "Index of this client, from 0.");
  per_rank_option_ =
      app.add_flag("--per-rank", per_rank_,
                   "Apply in-flight counts, rates and numbers of calls to each rank instead of dividing them.");
  rendezvous_ = app.add_option("--rendezvous", options_.rendezvous,
                               "Shared folder where ranks agree on windows and leave rank-N.json.")
                    ->type_name("DIR");
  start_at_ = app.add_option_function<std::string>(
                     "--start-at",
                     [this](const std::string& text) {
                       auto time = ParseWallTime(text);
                       if (!time.ok()) throw CLI::ValidationError("--start-at", std::string(time.status().message()));
                       options_.start_at = *time;
                     },
                     "Wall-clock start of the warm-up: seconds since 1970 or 2026-01-31T12:00:00+01:00.")
                  ->type_name("TIME")
                  ->excludes(rendezvous_);
  timeout_ = AddDuration(app, "--rank-timeout", options_.patience_ns, "Time limit for other ranks at each point.");
  app.add_option("--merge", options_.merge, "Result files of ranks to merge into one result, instead of measuring.")
      ->type_name("FILE...");
}

void RankFlags::Resolve(RunConfig& run, const RunGoals& goals) {
  if (!options_.merge.empty()) return CheckMerge();
  ResolveWho();
  if (!options_.id) return;
  CheckGoals(run, goals);
  const size_t points = run.points.size() * static_cast<size_t>(run.repetitions);
  if (options_.start_at && points > 1) {
    BadCombination("--start-at",
                   absl::StrCat("is for one point: this run has ", points, ", for which --rendezvous is accepted"));
  }
  if (!per_rank_) TakeShare(run);
  run.schedule.seed = SeedOf(run.schedule.seed, *options_.id);
}

void RankFlags::CheckMerge() const {
  const std::set<std::string> accepted = {"--merge",    "--output",           "--format", "--evidence",
                                          "--with-csv", "--per-worker-stats", "--check"};
  for (const CLI::Option* option : app_.get_options()) {
    if (option->count() > 0 && !accepted.contains(option->get_name())) {
      BadCombination(option->get_name(), "not together with --merge, which measures nothing");
    }
  }
}

void RankFlags::ResolveWho() {
  if (launched_) {
    for (const CLI::Option* option : {ranks_, rank_, start_at_, timeout_}) {
      if (option->count() > 0)
        BadCombination(option->get_name(), "not together with a launcher, which numbers the ranks");
    }
    if (rendezvous_->count() == 0) BadCombination("--rendezvous", "is needed: each rank leaves its result there");
    return;
  }
  if (ranks_->count() == 0) {
    for (const CLI::Option* option : {rank_, per_rank_option_, rendezvous_, start_at_, timeout_}) {
      if (option->count() > 0) BadCombination(option->get_name(), "needs --ranks");
    }
    return;
  }
  if (rank_->count() == 0) BadCombination("--ranks", "needs --rank, the index of this client");
  if (index_ >= count_) {
    BadCombination("--rank", absl::StrCat(index_, " is not one of --ranks ", count_, ", which are 0 to ", count_ - 1));
  }
  if (rendezvous_->count() + start_at_->count() == 0) {
    BadCombination("--ranks", "needs --rendezvous or --start-at, by which the ranks agree when to begin");
  }
  options_.id = RankId{index_, count_};
}

// A goal that depends on what one process measures ends at a different time in each process. So does a number of calls,
// but it can be divided.
void RankFlags::CheckGoals(const RunConfig& run, const RunGoals& goals) const {
  const std::pair<const char*, bool> kByItself[] = {
      {"--until-stable", run.until_stable_percent > 0},
      {"--find-rate", goals.find_rate},
      {"--lower-bound", run.lower_bound},
  };
  for (const auto& [flag, given] : kByItself) {
    if (given) BadCombination(flag, "depends on what one process measures: not together with ranks");
  }
}

void RankFlags::TakeShare(RunConfig& run) const {
  const RankId& id = *options_.id;
  std::vector<Load> shares;
  for (const Load& whole : run.points) {
    const char* const flag = whole.open() ? "--max-outstanding" : "--inflight";
    if (whole.slots < id.count) {
      BadCombination(flag, absl::StrCat(whole.slots, " divided among ", id.count, " ranks leaves some without any: ",
                                        id.count, " or more are accepted, or --per-rank"));
    }
    const Load share{ShareOf(whole.slots, id), whole.open() ? ShareOf(whole.rate, id) : 0};
    if (std::find(shares.begin(), shares.end(), share) != shares.end()) {
      BadCombination(flag, absl::StrCat("two points of the sweep are the same ", share.Label(), " to rank ", id.index,
                                        ": numbers that are ", id.count, " apart, or more, are told apart"));
    }
    shares.push_back(share);
  }
  run.points = std::move(shares);
  run.total = ShareOfCalls("--total", run.total);
  run.skip_first = ShareOfCalls("--skip-first", run.skip_first);
}

// 0, which is no number of calls, stays that; nobody's share may become it.
uint64_t RankFlags::ShareOfCalls(const char* flag, uint64_t calls) const {
  const RankId& id = *options_.id;
  if (calls > 0 && calls < static_cast<uint64_t>(id.count)) {
    BadCombination(flag, absl::StrCat(calls, " calls divided among ", id.count, " ranks leaves some without any: ",
                                      id.count, " or more are accepted, or --per-rank"));
  }
  return ShareOf(calls, id);
}

absl::StatusOr<std::unique_ptr<Ranks>> MakeRanks(const RankOptions& options) {
  if (!options.id) return nullptr;
  if (options.start_at) return MakeStartAtRanks(*options.id, *options.start_at);
  auto ranks = MakeFileRanks(*options.id, options.rendezvous, options.patience_ns);
  if (!ranks.ok()) return absl::InvalidArgumentError(absl::StrCat("--rendezvous: ", ranks.status().message()));
  return ranks;
}

}  // namespace cqbench
