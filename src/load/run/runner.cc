#include "src/load/run/runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/last_resort.h"
#include "src/base/machine.h"
#include "src/channel/credentials.h"
#include "src/channel/peer_settings.h"
#include "src/load/run/lower_bounds.h"
#include "src/load/run/point_run.h"
#include "src/load/run/rate_trial.h"
#include "src/observe/allocations/allocations.h"
#include "src/observe/checks/self_check.h"
#include "src/observe/sampling/process.h"
#include "src/result/statistics.h"

namespace cqbench {
namespace {

// Descriptors other than connections: epoll sets, wake-up pipes, standard streams, resolver sockets, the control
// service.
constexpr uint64_t kOtherDescriptors = 64;

double GiB(uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 30);
}

// With several ranks, one rank samples the servers for all.
bool AsksServers(const RunConfig& config, const Ranks* ranks) {
  const bool first = ranks == nullptr || ranks->id().index == 0;
  return first && (config.evidence || config.lower_bound) && !ControlClients::Addresses(config).empty();
}

class Sweep {
 public:
  Sweep(const RunConfig& config, const std::vector<Endpoint>& endpoints, const RunGoals& goals, Interrupt& interrupt,
        const RunObserver& observer, Ranks* ranks)
      : config_(config),
        goals_(goals),
        interrupt_(interrupt),
        observer_(observer),
        credentials_(ClientCredentials(config.security)),
        servers_(config, credentials_),
        setting_{config,
                 endpoints,
                 interrupt,
                 observer.progress,
                 credentials_,
                 AsksServers(config, ranks) ? &servers_ : nullptr,
                 nullptr,
                 ranks,
                 [this] { ReadPeers(); }},
        lower_bounds_(setting_) {
    std::vector<int> slots;
    for (const Load& load : config.points) slots.push_back(load.slots);
    if (std::string note = DescribeIdleChannels(config.policy, slots); !note.empty()) {
      notes_.push_back({kIdleChannels, std::move(note)});
    }
    update_.points = goals.find_rate ? 0 : config.repetitions * static_cast<int>(config.points.size());
  }

  SweepResult Run() {
    if (goals_.find_rate) {
      Search();
    } else {
      for (update_.repetition = 0; !over_ && update_.repetition < config_.repetitions; ++update_.repetition) {
        Pass(config_.points);
      }
      if (config_.until_stable_percent > 0) Repeat();
    }
    return Snapshot();
  }

 private:
  // Until nothing is unstable any more: those points again, in turn.
  void Repeat() {
    std::vector<Load> unstable = NotStable(result_.points, config_.until_stable_percent);
    for (; !over_ && !unstable.empty() && update_.repetition < config_.max_repetitions; ++update_.repetition) {
      update_.points = update_.point + static_cast<int>(unstable.size());
      Pass(unstable);
      unstable = NotStable(result_.points, config_.until_stable_percent);
    }
    for (const Load& load : unstable) {
      notes_.push_back(
          {kNotStable, absl::StrCat(load.Label(), ": the throughput's 95 % interval is not within ±",
                                    config_.until_stable_percent, " % after ", update_.repetition, " repetitions")});
    }
  }

  void Pass(const std::vector<Load>& loads) {
    for (const Load& load : loads) {
      MeasurePoint(setting_, load);
      if (over_) return;
    }
    MeasureLowerBounds();
  }

  // A trial of the search is a point like any other; only the draw of its due times is its own.
  void Search() {
    RunConfig config = config_;
    const PointSetting setting{config,
                               setting_.endpoints,
                               setting_.interrupt,
                               setting_.progress,
                               credentials_,
                               setting_.servers,
                               setting_.make_pool,
                               nullptr,
                               setting_.on_connected};
    const auto measure = [&](double rate) {
      const PointResult* const point = MeasurePoint(setting, {config_.points.front().slots, rate});
      ++config.schedule.seed;
      return TrialOf(*point, last_misses_, over_);
    };
    result_.find_rate = FindRate(goals_.search, measure);
    result_.find_rate->objective = goals_.objective.ToString();
    if (!over_) MeasureLowerBounds();
  }

  const PointResult* MeasurePoint(const PointSetting& setting, const Load& load) {
    ++update_.point;
    update_.load = load;
    PointRun run(setting, load, update_);
    PointResult& point = result_.points.emplace_back(run.Run());
    if (CanCountAllocations() && point.failure.empty() && !point.partial) {
      PointRun(setting, load, update_).CountAllocations(point);
    }
    CheckPoint(setting.config, servers_.servers(), point);
    CheckStreams(result_.peer_settings, point);
    CheckSleep(run.slept_ns(), point);
    JudgePoint(run.measurement(), point);
    const bool hopeless = update_.point == 1 && run.hopeless();
    result_.repetitions = update_.repetition + 1;
    result_.partial = interrupt_.Pending() || point.stuck;
    over_ = result_.partial || hopeless;
    if (observer_.on_point) observer_.on_point(Snapshot());
    if (observer_.on_measurement) observer_.on_measurement(point, run.measurement());
    return &point;
  }

  // Once, after the servers were reached and before the first call.
  void ReadPeers() {
    if (config_.evidence && result_.peer_settings.empty()) result_.peer_settings = ReadPeerSettings(config_);
  }

  void JudgePoint(const Measurement& measurement, PointResult& point) {
    if (goals_.objective.empty()) return;
    last_misses_ = Misses(goals_.objective, measurement);
    point.objective_met = point.failure.empty() && last_misses_.empty();
    if (goals_.find_rate || !point.failure.empty()) return;
    for (const std::string& miss : last_misses_) {
      result_.misses.push_back(absl::StrCat(point.load.Label(), ": ", miss));
    }
  }

  void MeasureLowerBounds() {
    if (!config_.lower_bound) return;
    update_.load = {1, 0};
    const size_t before = result_.lower_bounds.size();
    lower_bounds_.Measure(update_, result_.lower_bounds, notes_);
    for (size_t i = before; i < result_.lower_bounds.size(); ++i) {
      CheckPoint(config_, servers_.servers(), result_.lower_bounds[i].point);
    }
    over_ = result_.partial = interrupt_.Pending();
    if (observer_.on_point) observer_.on_point(Snapshot());
  }

  // Everything that is known by now.
  const SweepResult& Snapshot() {
    result_.servers = servers_.servers();
    result_.notes = notes_;
    for (const std::string& note : servers_.notes()) result_.notes.push_back({kNotMeasured, note});
    return result_;
  }

  const RunConfig& config_;
  const RunGoals& goals_;
  Interrupt& interrupt_;
  const RunObserver& observer_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  ControlClients servers_;
  const PointSetting setting_;
  LowerBounds lower_bounds_;
  ProgressUpdate update_;
  std::vector<Notice> notes_;
  std::vector<std::string> last_misses_;  // why the last point does not meet the objective
  SweepResult result_;
  bool over_ = false;
};

// Adds up the messages of all calls in flight: a request lives until it is sent (all calls share bytes), a response
// until it has arrived. The real maximum is unknown, but a machine that cannot hold all of them is too small for the
// run.
absl::Status CheckMemory(const RunConfig& config) {
  if (!config.method.has_payload) return absl::OkStatus();
  int slots = 0;
  for (const Load& load : config.points) slots = std::max(slots, load.slots);
  const uint64_t request = config.messages == MessageStrategy::kBytes ? 0 : config.message.request_bytes;
  const uint64_t needed = static_cast<uint64_t>(slots) * (request + config.message.response_bytes);
  const MemoryLeft left = FindMemoryLeft();
  if (needed <= left.bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "too little memory: the payload of %d calls in flight is %.1f GiB, %.1f GiB are left (%s); ask for fewer "
      "(--inflight, --max-inflight) or smaller ones",
      slots, GiB(needed), GiB(left.bytes), left.limit));
}

}  // namespace

absl::StatusOr<std::vector<Endpoint>> CheckRunnable(const RunConfig& config) {
  auto endpoints = ResolveTargets(config.targets);
  if (!endpoints.ok()) return endpoints.status();
  if (const absl::Status enough = CheckMemory(config); !enough.ok()) return enough;
  size_t connections = 0;
  for (const Load& load : config.points) {
    const ChannelPlan plan = PlanChannels(config.policy, load.slots, static_cast<int>(config.targets.size()));
    connections = std::max(connections, static_cast<size_t>(plan.expected_connections));
  }
  const uint64_t needed = connections + kOtherDescriptors;
  const uint64_t allowed = RaiseDescriptorLimit();
  if (needed <= allowed) return endpoints;
  return absl::ResourceExhaustedError(
      absl::StrCat("too few file descriptors: ", connections, " connections need about ", needed, ", the limit is ",
                   allowed, "; raise it with 'ulimit -n ", needed, "' or ask for fewer connections"));
}

SweepResult RunSweep(const RunConfig& config, const std::vector<Endpoint>& endpoints, const RunGoals& goals,
                     Interrupt& interrupt, const RunObserver& observer, Ranks* ranks) {
  std::optional<StepLimit> starting(std::in_place, "starting gRPC", config.connect_timeout_ns + StepLimit::kSlack);
  Sweep sweep(config, endpoints, goals, interrupt, observer, ranks);
  starting.reset();
  return sweep.Run();
}

}  // namespace cqbench
