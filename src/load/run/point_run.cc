#include "src/load/run/point_run.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/last_resort.h"
#include "src/load/run/drain.h"
#include "src/load/run/point_steps.h"
#include "src/observe/evidence/stream_report.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/process.h"

namespace cqbench {
namespace {

// How long calls may go on after the window: to their deadline and a little, but never longer than this.
constexpr Nanos kMaxDrain = 10 * kNanosPerSecond;
// After cancelling, the library must report every call as ended.
constexpr Nanos kMaxCancel = 30 * kNanosPerSecond;
constexpr Nanos kMaxCountingPass = kNanosPerSecond;
// A time series that nobody asked for has as many time buckets as fit, and at most kUsualTimeBuckets.
constexpr Nanos kUsualTimeBucket = 100 * kNanosPerMilli;
constexpr int kUsualTimeBuckets = 50;

int ThreadsFor(const RunConfig& config, const Load& load) {
  const int wanted = config.threads > 0 ? config.threads : static_cast<int>(AllowedCpus().size());
  return std::clamp(wanted, 1, load.slots);
}

std::unique_ptr<RunWindow> MakeWindow(const RunConfig& config, const Load& load, Nanos interval) {
  if (config.bucket_ns > 0) {
    return std::make_unique<RunWindow>(static_cast<int>(interval / config.bucket_ns), config.bucket_ns);
  }
  const auto time_buckets = static_cast<int>(std::min<Nanos>(interval / kUsualTimeBucket, kUsualTimeBuckets));
  const bool too_many = config.api == ClientApi::kSync && load.slots > kMaxTimeBucketsOfThreads / kUsualTimeBuckets;
  if (time_buckets < 2 || too_many) return std::make_unique<RunWindow>();
  return std::make_unique<RunWindow>(time_buckets, interval / time_buckets);
}

std::string NotEnded() {
  return "calls had not ended long after they were cancelled (gRPC lost their end; in 1.51 --channel-arg "
         "grpc.enable_retries=0 avoids that)";
}

absl::Status LacksMethod(const RunConfig& config) {
  const bool packed = config.compression.algorithm != Compression::kNone;
  return absl::UnimplementedError(absl::StrCat(
      "the server has no method ", config.method.path,
      packed ? ", or takes no compressed requests (grpc_ping_server: --compression or --accept-compressed)" : "",
      " (its response: UNIMPLEMENTED)"));
}

// The connections of the control service must not outlive the point, however it ends: the next one would count them as
// its own.
class WhileConnected {
 public:
  explicit WhileConnected(ControlClients* servers) : servers_(servers) {}
  WhileConnected(const WhileConnected&) = delete;
  WhileConnected& operator=(const WhileConnected&) = delete;
  ~WhileConnected() {
    if (servers_) servers_->Disconnect();
  }

 private:
  ControlClients* const servers_;
};

}  // namespace

PointRun::PointRun(const PointSetting& setting, const Load& load, const ProgressUpdate& update)
    : setting_(setting),
      config_(setting.config),
      interrupt_(setting.interrupt),
      update_(update),
      connections_(setting, point_),
      rank_(setting.ranks) {
  point_.load = load;
  point_.repetition = update.repetition;
  point_.start_time = LocalTime();
  point_.rank = rank_.Describe();
}

PointResult PointRun::Run() {
  const ChannelPlan plan = Plan();
  point_.channels = static_cast<int>(plan.channels.size());
  point_.expected_connections = plan.expected_connections;
  const auto pool = connections_.Connect(plan, /*timed=*/config_.evidence);
  hopeless_ = !pool.ok();
  if (!pool.ok()) return Fail(std::string(pool.status().message()));
  connections_.WaitForLostAttempts();
  if (const absl::Status status = MeasureWith(pool->get(), plan); !status.ok()) {
    hopeless_ = hopeless_ || absl::IsUnavailable(status);
    return Fail(std::string(status.message()));
  }
  CheckPromise();
  return std::move(point_);
}

void PointRun::CountAllocations(PointResult& point) {
  counting_ = true;
  const ChannelPlan plan = Plan();
  const auto pool = connections_.Connect(plan, /*timed=*/false);
  const absl::Status status = pool.ok() ? MeasureWith(pool->get(), plan) : pool.status();
  point.stuck = point_.stuck;
  if (!status.ok()) {
    point.notes.push_back({kNotMeasured, absl::StrCat("allocations were not counted: ", status.message())});
    return;
  }
  for (const auto& [name, value] : point_.figures) point.figures.Set(name, value);
  point.notes.insert(point.notes.end(), point_.notes.begin(), point_.notes.end());
}

ChannelPlan PointRun::Plan() const {
  return PlanChannels(config_.policy, point_.load.slots, static_cast<int>(config_.targets.size()));
}

PointPhases PointRun::Phases() const {
  if (!counting_) return {config_.warmup_ns, config_.interval_ns};
  const Nanos interval = config_.total > 0 ? config_.interval_ns : std::min(config_.interval_ns, kMaxCountingPass);
  return {std::min(config_.warmup_ns, kMaxCountingPass), interval};
}

ControlClients* PointRun::ConnectServers(const std::vector<OpenConnection>& measured) {
  if (!setting_.servers) return nullptr;
  const bool connected = setting_.servers->Connect();
  connections_.Exclude(measured);  // a connection to a server that does not answer may still be closing
  if (connected) return setting_.servers;
  if (!setting_.servers->absence().empty()) {
    point_.notes.push_back({kNotMeasured, setting_.servers->absence()});
  }
  return nullptr;
}

absl::Status PointRun::MeasureWith(const ChannelPool* channels, const ChannelPlan& plan) {
  const PointPhases phases = Phases();
  const std::vector<OpenConnection> measured = connections_.Read().value_or(std::vector<OpenConnection>());
  window_ = MakeWindow(config_, point_.load, phases.interval_ns);
  ControlClients* servers = ConnectServers(measured);
  const WhileConnected connected(servers);  // outlives `evidence`, which asks them
  try {
    PointEvidence evidence(config_, plan, *window_, servers, counting_);
    auto made = MakeEngine(config_, channels, point_.load, ThreadsFor(config_, point_.load), *window_,
                           phases.warmup_ns + phases.interval_ns, [this] { return interrupt_.Pending(); });
    if (!made.ok()) return made.status();
    if (setting_.on_connected) setting_.on_connected();
    return MeasureEngine(*std::move(made), evidence, phases);
  } catch (const std::system_error& error) {
    const std::string near = NearLimit();
    return absl::ResourceExhaustedError(absl::StrCat("cannot start the threads for ", point_.load.slots, " slots: ",
                                                     error.what(), near.empty() ? "" : absl::StrCat(" (", near, ")")));
  }
}

absl::Status PointRun::MeasureEngine(std::unique_ptr<Engine> engine, PointEvidence& evidence,
                                     const PointPhases& phases) {
  point_.threads = engine->threads();
  point_.channels_of_thread = engine->ChannelsOfThread();
  PointSteps steps(setting_, {*engine, evidence, connections_, *window_, rank_, update_, point_}, phases, counting_);
  if (const absl::Status measured = steps.Run(); !measured.ok()) return measured;
  slept_ns_ = steps.slept_ns();
  Engine& measured_by = *engine;
  const bool collectable = Drain(*engine) || LeaveBehind(std::move(engine));
  rank_.Compare();
  if (!collectable) return absl::InternalError(absl::StrCat(NotEnded(), ": nothing of this point can be reported"));
  if (steps.lacks_method()) {
    hopeless_ = true;
    return LacksMethod(config_);
  }
  Collect(measured_by);
  evidence.Report(measurement_, config_.breakdown ? measured_by.MeasureTimingCost() : TimingCost{}, point_);
  ReportCoresPerGbit(point_);
  return absl::OkStatus();
}

PointResult PointRun::Fail(std::string why) {
  rank_.Fail(why);
  point_.failure = std::move(why);
  point_.partial = interrupt_.signal() != 0;
  return std::move(point_);
}

void PointRun::CheckPromise() {
  if (!point_.connections || *point_.connections == point_.expected_connections) return;
  // gRPC's connection scaling (gRFC A105): a channel opens as many as the server's stream limit takes.
  const bool may_grow = absl::StrContains(config_.service_config, "\"connectionScaling\"");
  if (may_grow && *point_.connections > point_.expected_connections) return;
  const std::string text = absl::StrCat("policy ", config_.policy.ToString(), " promises ", point_.expected_connections,
                                        " connection(s), this process has ", *point_.connections);
  point_.warnings.push_back({kOtherConnections, text});
}

bool PointRun::Drain(Engine& engine) {
  const Nanos longest = config_.deadline_ns ? std::min(*config_.deadline_ns + kNanosPerSecond, kMaxDrain) : kMaxDrain;
  const Nanos limit = point_.partial ? kDrainAfterSignal : longest;
  return DrainEngine(engine, interrupt_, window_->close_ns(), window_->close_ns() + limit, kMaxCancel);
}

// Calls have not ended though they were cancelled. Returns true when what was recorded can be collected all the same.
// The engine and what its calls use stay until the process ends, which must measure nothing any more.
bool PointRun::LeaveBehind(std::unique_ptr<Engine> engine) {
  struct LeftBehind {
    std::unique_ptr<Engine> engine;
    std::shared_ptr<RunWindow> window;
  };
  static auto& all = *new std::vector<LeftBehind>;  // never destroyed
  point_.stuck = true;
  const bool collectable = engine->GiveUp();
  if (collectable) {
    point_.notes.push_back(
        {kCallsAbandoned, absl::StrCat(NotEnded(), ": they count as unfinished, and nothing is measured after them")});
  }
  all.push_back({std::move(engine), window_});
  return collectable;
}

void PointRun::Collect(const Engine& engine) {
  measurement_ = Measurement();
  engine.Collect(measurement_);
  measurement_.window_ns = std::max<Nanos>(window_->close_ns() - window_->open_ns(), 0);
  if (measurement_.bucket_ns > 0) {  // an interrupt may have cut off the last ones
    const auto whole = static_cast<size_t>(measurement_.window_ns / measurement_.bucket_ns);
    measurement_.time_buckets.resize(std::min(measurement_.time_buckets.size(), whole));
  }
  Describe(measurement_, point_);
  if (point_.rank) point_.rank->timing = rank_.DescribeTiming(*window_, measurement_);
  ReportMessages(config_, measurement_, point_);
  if (point_.load.open() && config_.api == ClientApi::kSync) {
    point_.notes.push_back({kNotMeasured,
                            "the shape of arrivals is not known: with the sync API each slot's thread keeps the "
                            "schedule by itself"});
  }
  if (point_.completed == 0) point_.failure = NothingMeasured();
  if (point_.completed < config_.total && !point_.partial) {
    point_.notes.push_back(
        {kIntervalEnded, absl::StrCat("the interval ended before ", config_.total, " calls were done (--total)")});
  }
}

std::string PointRun::NothingMeasured() const {
  if (!point_.errors.empty()) return absl::StrCat("no call succeeded: ", point_.errors.front().code);
  if (point_.partial) return "interrupted before anything was measured";
  return "no call ended inside the window";
}

}  // namespace cqbench
