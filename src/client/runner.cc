#include "cqbench/runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cqbench/allocations.h"
#include "cqbench/connections.h"
#include "cqbench/process.h"
#include "cqbench/self_check.h"
#include "cqbench/statistics.h"
#include "src/client/baselines.h"
#include "src/client/point_run.h"

namespace cqbench {
namespace {

// Descriptors beside connections: epoll sets, wake-up pipes, standard streams, resolver sockets, the control service.
constexpr uint64_t kOtherDescriptors = 64;

class Sweep {
 public:
  Sweep(const RunConfig& config, const std::vector<Endpoint>& endpoints, Interrupt& interrupt,
        const ProgressCallback& progress)
      : config_(config),
        interrupt_(interrupt),
        servers_(config),
        setting_{config, endpoints, interrupt, progress, config.evidence || config.baseline ? &servers_ : nullptr},
        baselines_(setting_) {
    update_.points = config.repetitions * static_cast<int>(config.inflight.size());
  }

  SweepResult Run() {
    for (update_.repetition = 0; !over_ && update_.repetition < config_.repetitions; ++update_.repetition) {
      Pass(config_.inflight);
    }
    if (config_.until_stable_percent > 0) Repeat();
    result_.repetitions = update_.repetition;
    result_.servers = servers_.servers();
    for (const std::string& note : servers_.notes()) result_.notes.push_back(note);
    return std::move(result_);
  }

 private:
  // Until nothing is unstable any more: those points again, in turn.
  void Repeat() {
    std::vector<int> unstable = NotStable(result_.points, config_.until_stable_percent);
    for (; !over_ && !unstable.empty() && update_.repetition < config_.max_repetitions; ++update_.repetition) {
      update_.points = update_.point + static_cast<int>(unstable.size());
      Pass(unstable);
      unstable = NotStable(result_.points, config_.until_stable_percent);
    }
    for (int inflight : unstable) {
      result_.notes.push_back(absl::StrCat("in-flight ", inflight, ": the throughput's 95 % interval is not within ±",
                                           config_.until_stable_percent, " % after ", update_.repetition,
                                           " repetitions"));
    }
  }

  void Pass(const std::vector<int>& inflight) {
    for (int n : inflight) {
      ++update_.point;
      update_.inflight = n;
      PointRun run(setting_, n, update_);
      PointResult& point = result_.points.emplace_back(run.Run());
      const bool never_connected = update_.point == 1 && point.channels > 0 && point.window_ns == 0;
      if (CanCountAllocations() && point.failure.empty() && !point.partial) {
        PointRun(setting_, n, update_).CountAllocations(point);
      }
      point.suspect = CheckPoint(point, config_, servers_.servers());
      result_.partial = interrupt_.Pending();
      over_ = result_.partial || never_connected;
      if (over_) return;
    }
    if (!config_.baseline) return;
    update_.inflight = 1;
    const size_t before = result_.baselines.size();
    baselines_.Measure(update_, result_.baselines, result_.notes);
    for (size_t i = before; i < result_.baselines.size(); ++i) {
      PointResult& point = result_.baselines[i].point;
      point.suspect = CheckPoint(point, config_, servers_.servers());
    }
    over_ = result_.partial = interrupt_.Pending();
  }

  const RunConfig& config_;
  Interrupt& interrupt_;
  ControlClients servers_;
  const PointSetting setting_;
  Baselines baselines_;
  ProgressUpdate update_;
  SweepResult result_;
  bool over_ = false;
};

}  // namespace

absl::Status CheckRunnable(const RunConfig& config) {
  if (auto endpoints = ResolveTargets(config.targets); !endpoints.ok()) return endpoints.status();
  size_t connections = 0;
  for (int inflight : config.inflight) {
    const ChannelPlan plan = PlanChannels(config.policy, inflight, static_cast<int>(config.targets.size()));
    connections = std::max(connections, static_cast<size_t>(plan.expected_connections));
  }
  const uint64_t needed = connections + kOtherDescriptors;
  const uint64_t allowed = RaiseDescriptorLimit();
  if (needed <= allowed) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("too few file descriptors: ", connections, " connections need about ", needed, ", the limit is ",
                   allowed, "; raise it with 'ulimit -n ", needed, "' or ask for fewer connections"));
}

SweepResult RunSweep(const RunConfig& config, Interrupt& interrupt, const ProgressCallback& progress) {
  const auto endpoints = ResolveTargets(config.targets);
  if (!endpoints.ok()) return {};  // CheckRunnable() has said so
  return Sweep(config, *endpoints, interrupt, progress).Run();
}

}  // namespace cqbench
