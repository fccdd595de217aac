#include "src/cli/client/load_flags.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cqbench/schedule.h"
#include "src/config/units.h"

namespace cqbench {
namespace {

constexpr double kErrorsOfSearch = 0.01;

constexpr double kMaxPoints = 10'000;  // of a sweep over rates
constexpr uint64_t kMaxTotal = 1'000'000'000'000;

absl::StatusOr<double> ParseRate(absl::string_view text) {
  auto rates = ParseRateList(text);
  if (!rates.ok()) return rates.status();
  if (rates->size() == 1) return rates->front();
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is more than one rate: --rate-list takes several"));
}

CLI::Option* AddRate(CLI::App& app, const std::string& flag, double& into, const std::string& help) {
  return AddParsed(app, flag, into, ParseRate, help)->type_name("RATE");
}

std::string Number(double value) {
  return absl::StrFormat("%.10g", value);
}

}  // namespace

LoadFlags::LoadFlags(CLI::App& app, RunConfig& run, RunGoals& goals) : run_(run), goals_(goals) {
  AddClosed(app);
  AddOpen(app);
  AddGoals(app);
  AddRepetitions(app);
}

void LoadFlags::AddClosed(CLI::App& app) {
  auto* inflight =
      AddNumber(app, "--inflight", inflight_, 1, kMaxInflight, "Concurrent calls of a closed loop; one point.");
  min_ = AddNumber(app, "--min-inflight", min_inflight_, 1, kMaxInflight, "Minimum of a sweep over concurrent calls.");
  max_ = AddNumber(app, "--max-inflight", max_inflight_, 1, kMaxInflight, "Maximum of a sweep over concurrent calls.");
  step_ = AddNumber(app, "--inflight-step", inflight_step_, 1, kMaxInflight,
                    "Step of a sweep from --min-inflight to --max-inflight.");
  list_ = AddParsed(app, "--inflight-list", inflight_list_, ParseInflightList,
                    "Concurrent calls of each point of a sweep: 1,2,4,8.")
              ->type_name("N,N,...");
  for (auto* range : {min_, max_, step_}) {
    range->excludes(inflight);
    range->excludes(list_);
  }
  list_->excludes(inflight);
  closed_ = {inflight, min_, max_, step_, list_};
  total_ = AddNumber(app, "--total", run_.total, uint64_t{1}, kMaxTotal,
                     "Calls after which a point of a closed loop ends, if --interval is not over sooner.")
               ->type_name("CALLS");
  skip_first_ = AddNumber(app, "--skip-first", run_.skip_first, uint64_t{1}, kMaxTotal,
                          "Successful calls of a closed loop to leave out; the warm-up lasts until they are done.")
                    ->type_name("CALLS");
}

void LoadFlags::AddOpen(CLI::App& app) {
  rate_option_ = AddRate(app, "--rate", rate_, "Rate of an open loop in scheduled calls per second; one point.");
  rate_list_option_ = AddParsed(app, "--rate-list", rate_list_, ParseRateList,
                                "Rates of the points of a sweep, in calls per second: 1000,2000.")
                          ->type_name("RATE,RATE,...");
  min_rate_option_ = AddRate(app, "--min-rate", min_rate_, "Minimum of a sweep over rates, in calls per second.");
  max_rate_option_ = AddRate(app, "--max-rate", max_rate_, "Maximum of a sweep over rates, in calls per second.");
  rate_step_option_ =
      AddRate(app, "--rate-step", rate_step_, "Step of a sweep from --min-rate to --max-rate, in calls per second.");
  byte_rate_option_ = AddParsed(app, "--byte-rate", byte_rate_, ParseByteRate,
                                "Payload rate of an open loop of chunk streams: 5Gbit/s, 500MiB/s; one point.")
                          ->type_name("RATE");
  for (auto* range : {min_rate_option_, max_rate_option_, rate_step_option_}) {
    range->excludes(rate_option_);
    range->excludes(rate_list_option_);
    range->excludes(byte_rate_option_);
  }
  rate_list_option_->excludes(rate_option_);
  byte_rate_option_->excludes(rate_option_);
  byte_rate_option_->excludes(rate_list_option_);
  open_ = {byte_rate_option_, rate_option_, rate_list_option_, min_rate_option_, max_rate_option_, rate_step_option_};

  ScheduleConfig& schedule = run_.schedule;
  auto* outstanding = AddNumber(app, "--max-outstanding", max_outstanding_, 1, kMaxInflight,
                                "Maximum of concurrent calls of an open loop, over all channels.");
  auto* at_limit =
      AddEnum(app, "--at-limit", schedule.at_limit,
              "Treatment of scheduled calls of an open loop at --max-outstanding: wait for a slot, or drop.");
  arrivals_ = AddEnum(app, "--arrivals", schedule.arrivals,
                      "Arrivals of an open loop: random, as from many independent users, or even.");
  auto* seed = AddNumber(app, "--seed", schedule.seed, uint64_t{0}, UINT64_MAX, "Random seed of the scheduled times.")
                   ->type_name("SEED");
  auto* pace = AddEnum(app, "--pace", schedule.pace,
                       "Waiting of an open loop's pacers: sleeping, sleeping and then spinning, or spinning.");
  open_extra_ = {outstanding, at_limit, arrivals_, seed, pace};
}

void LoadFlags::AddGoals(CLI::App& app) {
  objective_option_ =
      AddParsed(app, "--objective", objective_, ParseObjective,
                "Objective of every point: p99<2ms,max<1s,errors<0.1%; if a point misses it, the exit status is 1.")
          ->type_name("OBJECTIVE");
  find_rate_option_ =
      AddParsed(app, "--find-rate", find_rate_, ParseObjective,
                "Search for the highest rate of an open loop that meets the objective; about 50 points.")
          ->type_name("OBJECTIVE");
  for (auto* other : open_) find_rate_option_->excludes(other);
  find_rate_option_->excludes(objective_option_);
}

void LoadFlags::AddRepetitions(CLI::App& app) {
  repetitions_ = AddNumber(app, "--repetitions", run_.repetitions, 1, 1000, "Repetitions of the whole sweep.");
  until_stable_ = AddNumber(app, "--until-stable", run_.until_stable_percent, 0.1, 100.0,
                            "Repeat until the 95 % interval of every throughput is within PERCENT.")
                      ->type_name("PERCENT");
  max_repetitions_ =
      AddNumber(app, "--max-repetitions", run_.max_repetitions, 6, 1000, "Maximum of repetitions for --until-stable.");
  for (auto* other : {repetitions_, until_stable_, max_repetitions_}) find_rate_option_->excludes(other);
}

bool LoadFlags::IsOpen() const {
  return find_rate_option_->count() > 0 ||
         std::any_of(open_.begin(), open_.end(), [](const CLI::Option* option) { return option->count() > 0; });
}

void LoadFlags::Resolve() {
  goals_.objective = objective_;
  if (IsOpen()) {
    ResolveOpen();
  } else {
    ResolveClosed();
  }
  ResolveRepetitions();
}

void LoadFlags::ResolveClosed() {
  for (const CLI::Option* option : open_extra_) {
    if (option->count() > 0)
      BadCombination(option->get_name(),
                     "needs an open loop: --rate, --rate-list, --max-rate, --byte-rate or --find-rate");
  }
  std::vector<int> counts = {inflight_};
  if (list_->count() > 0) {
    counts = inflight_list_;
  } else if (min_->count() + max_->count() + step_->count() > 0) {
    if (min_inflight_ > max_inflight_) {
      BadCombination("--max-inflight", absl::StrCat(max_inflight_, " is below --min-inflight ", min_inflight_));
    }
    counts = SweepRange(min_inflight_, max_inflight_, inflight_step_);
  }
  for (int count : counts) run_.points.push_back({count, 0});
  ResolveTotal();
}

// As the user counts, --total has the calls that are left out, too; afterwards it has those that are measured.
void LoadFlags::ResolveTotal() {
  if (total_->count() == 0 || skip_first_->count() == 0) return;
  if (run_.skip_first >= run_.total) {
    BadCombination("--skip-first", absl::StrCat(run_.skip_first, " leaves nothing of --total ", run_.total));
  }
  run_.total -= run_.skip_first;
}

void LoadFlags::ResolveOpen() {
  for (const CLI::Option* option : closed_) {
    if (option->count() > 0) {
      BadCombination(option->get_name(),
                     "is for the closed loop: with a rate, --max-outstanding bounds what is in flight");
    }
  }
  if (total_->count() > 0) {
    BadCombination("--total", "is for the closed loop: with a rate, --interval says how many calls are due");
  }
  if (skip_first_->count() > 0) {
    BadCombination("--skip-first", "is for the closed loop: with a rate, --warmup says how long calls are left out");
  }
  if (find_rate_option_->count() > 0) return ResolveFindRate();
  for (double rate : Rates()) {
    CheckScheduleFits(rate);
    run_.points.push_back({max_outstanding_, rate});
  }
}

// A link is full evenly. The streams themselves go as fast as they can.
double LoadFlags::RateOfStreams() {
  const uint64_t bytes = ChunkBytesPerCall(run_.method, run_.message);
  if (bytes == 0) {
    BadCombination("--byte-rate", absl::StrCat("needs streams of chunks that are not empty, as --workload blob has: ",
                                               run_.method.workload, "/", run_.method.name, " has none"));
  }
  const double rate = byte_rate_ / 8 / static_cast<double>(bytes);
  if (rate > kMaxRate) {
    BadCombination("--byte-rate", absl::StrCat("with streams of ", bytes, " bytes is ", Number(rate),
                                               " streams per second: at most ", Number(kMaxRate), " are accepted"));
  }
  if (rate * ToSeconds(run_.interval_ns) < 1) {
    BadCombination("--byte-rate",
                   absl::StrCat("with streams of ", bytes, " bytes is less than one stream in --interval ",
                                FormatDuration(run_.interval_ns), ": fewer --chunks, or a longer one"));
  }
  if (arrivals_->count() == 0) run_.schedule.arrivals = Arrivals::kConstant;
  return rate;
}

std::vector<double> LoadFlags::Rates() {
  if (byte_rate_option_->count() > 0) return {RateOfStreams()};
  if (rate_option_->count() > 0) return {rate_};
  if (rate_list_option_->count() > 0) return rate_list_;
  return RatesOfSweep();
}

std::vector<double> LoadFlags::RatesOfSweep() const {
  const auto range = {min_rate_option_, max_rate_option_, rate_step_option_};
  for (const CLI::Option* missing : range) {
    if (missing->count() > 0) continue;
    for (const CLI::Option* given : range) {
      if (given->count() > 0) {
        BadCombination(given->get_name(), absl::StrCat("needs ", missing->get_name(), ": a sweep over rates is ",
                                                       "--min-rate, --max-rate and --rate-step"));
      }
    }
  }
  if (min_rate_ > max_rate_) {
    BadCombination("--max-rate", absl::StrCat(Number(max_rate_), " is below --min-rate ", Number(min_rate_)));
  }
  const double points = std::ceil((max_rate_ - min_rate_) / rate_step_) + 1;
  if (points > kMaxPoints) {
    BadCombination("--rate-step", absl::StrCat(Number(rate_step_), " makes ", Number(points), " points: at most ",
                                               Number(kMaxPoints), " are accepted"));
  }
  return RateRange(min_rate_, max_rate_, rate_step_);
}

// Every due time is kept in memory, warm-up included.
void LoadFlags::CheckScheduleFits(double rate) const {
  const double seconds = ToSeconds(run_.warmup_ns + run_.interval_ns);
  if (rate * seconds <= kMaxScheduled) return;
  const std::string flag = rate_option_->count() > 0        ? "--rate"
                           : byte_rate_option_->count() > 0 ? "--byte-rate"
                           : rate_list_option_->count() > 0 ? "--rate-list"
                                                            : "--max-rate";
  BadCombination(flag,
                 absl::StrCat(Number(rate), " for ", Number(seconds), " s (--warmup and --interval) is more than ",
                              Number(kMaxScheduled), " calls, of which the due times would be kept in memory"));
}

void LoadFlags::ResolveFindRate() {
  goals_.objective = find_rate_;
  // Failed and dropped calls are in no percentile: a server that fails fast would meet any.
  if (!goals_.objective.errors_below) goals_.objective.errors_below = kErrorsOfSearch;
  goals_.find_rate = true;
  const double seconds = ToSeconds(run_.warmup_ns + run_.interval_ns);
  goals_.search.max_rate = std::min(kMaxRate, kMaxScheduled / seconds);
  // At lower rates there are too few calls to tell whether the objective is met, which would look as if it were not.
  goals_.search.min_rate = std::max(goals_.search.min_rate,
                                    1.5 * static_cast<double>(CallsNeeded(find_rate_)) / ToSeconds(run_.interval_ns));
  if (goals_.search.min_rate > goals_.search.max_rate) {
    BadCombination("--find-rate",
                   absl::StrCat(find_rate_.ToString(), " takes ", CallsNeeded(find_rate_),
                                " calls to tell: --interval ", FormatDuration(run_.interval_ns), " is too short"));
  }
  goals_.search.start_rate = std::clamp(goals_.search.start_rate, goals_.search.min_rate, goals_.search.max_rate);
  goals_.search.seed = run_.schedule.seed;
  run_.points.push_back({max_outstanding_, goals_.search.start_rate});
}

void LoadFlags::ResolveRepetitions() {
  if (until_stable_->count() == 0 && max_repetitions_->count() > 0) {
    BadCombination("--max-repetitions", "needs --until-stable");
  }
}

}  // namespace cqbench
