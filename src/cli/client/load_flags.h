// How much is asked of the server, and when: the part of the client's command line about the points of a run.
#pragma once

#include <string>
#include <vector>

#include "cqbench/run_config.h"
#include "src/cli/flags/flags.h"
#include "src/load/run/runner.h"

namespace cqbench {

// Closed loop: number of calls in flight. Open loop: calls a second, or the highest rate that meets an objective.
class LoadFlags {
 public:
  // Adds the options to `app`; what they mean goes into `run` and `goals`. All must outlive this.
  LoadFlags(CLI::App& app, RunConfig& run, RunGoals& goals);
  // After parsing, and after the times of `run` are known. Throws CLI errors.
  void Resolve();

 private:
  void AddClosed(CLI::App& app);
  void AddOpen(CLI::App& app);
  void AddGoals(CLI::App& app);
  void AddRepetitions(CLI::App& app);
  bool IsOpen() const;
  void ResolveClosed();
  void ResolveOpen();
  std::vector<double> Rates();
  double RateOfStreams();
  std::vector<double> RatesOfSweep() const;
  void CheckScheduleFits(double rate) const;
  void ResolveFindRate();
  void ResolveRepetitions();
  void ResolveTotal();

  RunConfig& run_;
  RunGoals& goals_;
  int inflight_ = 32;
  int min_inflight_ = 1;
  int max_inflight_ = 32;
  int inflight_step_ = 1;
  std::vector<int> inflight_list_;
  double rate_ = 0;
  double byte_rate_ = 0;  // bits per second
  double min_rate_ = 0;
  double max_rate_ = 0;
  double rate_step_ = 0;
  std::vector<double> rate_list_;
  int max_outstanding_ = 100;
  Objective objective_;
  Objective find_rate_;
  std::vector<CLI::Option*> closed_;      // that choose closed-loop points
  std::vector<CLI::Option*> open_;        // that choose open-loop points
  std::vector<CLI::Option*> open_extra_;  // that need one of those
  CLI::Option *list_, *min_, *max_, *step_, *total_, *skip_first_;
  CLI::Option *byte_rate_option_, *arrivals_;
  CLI::Option *rate_option_, *rate_list_option_, *min_rate_option_, *max_rate_option_, *rate_step_option_;
  CLI::Option *find_rate_option_, *objective_option_;
  CLI::Option *repetitions_, *until_stable_, *max_repetitions_;
};

}  // namespace cqbench
