#include "src/load/run/point_run.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/last_resort.h"
#include "src/base/machine.h"
#include "src/base/reachability.h"
#include "src/channel/tls.h"
#include "src/load/run/drain.h"
#include "src/observe/evidence/stream_report.h"
#include "src/observe/sampling/connections.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/process.h"

namespace cqbench {
namespace {

constexpr Nanos kTick = 10 * kNanosPerMilli;
constexpr Nanos kMinTick = kNanosPerMilli;
constexpr Nanos kProgressEvery = 200 * kNanosPerMilli;
// How long calls may go on after the window: to their deadline and a little, but never longer than this.
constexpr Nanos kMaxDrain = 10 * kNanosPerSecond;
// After cancelling, the library must report every call as ended.
constexpr Nanos kMaxCancel = 30 * kNanosPerSecond;
constexpr Nanos kMaxCountingPass = kNanosPerSecond;
// Allocations are counted up to a moment in the midst of the calls, so these must not end before.
constexpr Nanos kPastCounting = 3600 * kNanosPerSecond;
// Of a time series that nobody asked for: it has as many slices as fit, and not more than this.
constexpr Nanos kUsualSlice = 100 * kNanosPerMilli;
constexpr int kUsualSlices = 50;

int ThreadsFor(const RunConfig& config, const Load& load) {
  const int wanted = config.threads > 0 ? config.threads : static_cast<int>(AllowedCpus().size());
  return std::clamp(wanted, 1, load.slots);
}

std::unique_ptr<RunWindow> MakeWindow(const RunConfig& config, const Load& load, Nanos interval) {
  if (config.slice_ns > 0) {
    return std::make_unique<RunWindow>(static_cast<int>(interval / config.slice_ns), config.slice_ns);
  }
  const auto slices = static_cast<int>(std::min<Nanos>(interval / kUsualSlice, kUsualSlices));
  const bool too_many = config.api == ClientApi::kSync && load.slots > kMaxSlicesOfThreads / kUsualSlices;
  if (slices < 2 || too_many) return std::make_unique<RunWindow>();
  return std::make_unique<RunWindow>(slices, interval / slices);
}

Nanos ProcessCpuNs() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return spent.tv_sec * kNanosPerSecond + spent.tv_nsec;
}

std::string NotEnded() {
  return "calls had not ended long after they were cancelled (gRPC lost their end; in 1.51 --channel-arg "
         "grpc.enable_retries=0 avoids that)";
}

// Shorter the nearer the last of the calls is, so that it is not missed by much and the look costs nothing before.
Nanos UntilNextLook(Nanos elapsed, uint64_t done, uint64_t calls) {
  const double per_call = static_cast<double>(elapsed) / static_cast<double>(std::max<uint64_t>(done, 1));
  return static_cast<Nanos>(std::clamp(per_call * static_cast<double>(calls - done), static_cast<double>(kMinTick),
                                       static_cast<double>(kTick)));
}

std::vector<Endpoint> AddressesOf(const Target& target) {
  return ResolveTargets({target}).value_or(std::vector<Endpoint>());
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
    : setting_(setting), config_(setting.config), interrupt_(setting.interrupt), update_(update), rank_(setting.ranks) {
  point_.load = load;
  point_.repetition = update.repetition;
  point_.start_time = LocalTime();
  point_.rank = rank_.Describe();
}

PointResult PointRun::Run() {
  const ChannelPlan plan = PlanChannels(config_.policy, point_.load.slots, static_cast<int>(config_.targets.size()));
  point_.channels = static_cast<int>(plan.channels.size());
  point_.expected_connections = plan.expected_connections;
  const auto pool = MakePool(plan);
  hopeless_ = !pool.ok();
  if (!pool.ok()) return Fail(std::string(pool.status().message()));
  WaitForLostAttempts();
  if (const absl::Status status = MeasureWith(*pool, plan); !status.ok()) {
    hopeless_ = hopeless_ || absl::IsUnavailable(status);
    return Fail(std::string(status.message()));
  }
  CheckPromise();
  return std::move(point_);
}

void PointRun::CountAllocations(PointResult& point) {
  counting_ = true;
  const ChannelPlan plan = PlanChannels(config_.policy, point_.load.slots, static_cast<int>(config_.targets.size()));
  const auto pool = MakePool(plan);
  const absl::Status status = pool.ok() ? MeasureWith(*pool, plan) : pool.status();
  point.stuck = point_.stuck;
  if (!status.ok()) {
    point.notes.push_back(absl::StrCat("allocations were not counted: ", status.message()));
    return;
  }
  for (const auto& [name, value] : point_.figures) point.figures.Set(name, value);
  point.notes.insert(point.notes.end(), point_.notes.begin(), point_.notes.end());
}

absl::StatusOr<ChannelPool> PointRun::MakePool(const ChannelPlan& plan) {
  if (setting_.make_pool) return setting_.make_pool();
  WaitForOldConnections();
  if (IsHttp(config_.api)) return ChannelPool(std::vector<std::shared_ptr<grpc::Channel>>());  // the engine connects
  ForgetHandshakes();
  // Finding out why there is no connection takes a second for each server that does not answer.
  const Nanos asking = 2 * kNanosPerSecond * static_cast<Nanos>(config_.targets.size());
  const StepLimit limit("connecting", config_.connect_timeout_ns + asking + StepLimit::kSlack);
  const Nanos begun = NowNs();
  const Nanos cpu = ProcessCpuNs();
  auto pool = ChannelPool::Connect(
      config_, plan, setting_.credentials,
      {[this] { return interrupt_.Pending(); }, [this](const Target& target) { return IsOfNoUse(target); },
       [this](const Target& target) { return WhyNoConnection(target); }});
  if (pool.ok() && config_.evidence && !counting_) {
    point_.figures.Set("client_connect_ns", static_cast<double>(NowNs() - begun));
    point_.figures.Set("client_connect_cpu_ns", static_cast<double>(ProcessCpuNs() - cpu));
  }
  if (!config_.security.tls || !pool.ok()) return pool;
  if (std::string why = WhyNotKept(config_.security); !why.empty()) return absl::FailedPreconditionError(why);
  point_.negotiated = SeenHandshakes();
  if (point_.negotiated.empty())
    point_.notes.push_back("what TLS agreed on is not known: gRPC has a TLS library of its own built in");
  return pool;
}

// Whether it is of no use to go on trying to connect there.
bool PointRun::IsOfNoUse(const Target& target) const {
  if (config_.wait_for_server) return false;
  return config_.security.tls ? TryTls(target, config_.security).lasting : IsUnreachable(AddressesOf(target));
}

std::string PointRun::WhyNoConnection(const Target& target) const {
  if (std::string near = NearLimit(); !near.empty()) return near;
  if (!config_.security.tls) return ExplainNoConnection(AddressesOf(target));
  const std::string why = TryTls(target, config_.security).why;
  if (!why.empty()) return why;
  return "a TLS connection works, gRPC's does not: is it a gRPC server, are channel arguments right?";
}

absl::Status PointRun::MeasureWith(const ChannelPool& pool, const ChannelPlan& plan) {
  const Nanos warmup = counting_ ? std::min(config_.warmup_ns, kMaxCountingPass) : config_.warmup_ns;
  const bool brief = counting_ && config_.total == 0;
  const Nanos interval = brief ? std::min(config_.interval_ns, kMaxCountingPass) : config_.interval_ns;
  const std::vector<OpenConnection> measured = LookAtConnections().value_or(std::vector<OpenConnection>());
  window_ = MakeWindow(config_, point_.load, interval);
  ControlClients* servers = setting_.servers && setting_.servers->Connect() ? setting_.servers : nullptr;
  const WhileConnected connected(servers);   // longer than what asks them
  if (setting_.servers) SetApart(measured);  // of one that does not answer, too: its connection may still be closing
  if (!servers && setting_.servers && !setting_.servers->absence().empty()) {
    point_.notes.push_back(setting_.servers->absence());
  }
  try {
    PointEvidence evidence(config_, plan, *window_, servers, counting_);
    auto made = MakeEngine(config_, pool, point_.load, ThreadsFor(config_, point_.load), *window_, warmup + interval,
                           [this] { return interrupt_.Pending(); });
    if (!made.ok()) return made.status();
    std::unique_ptr<Engine> engine = *std::move(made);
    point_.threads = engine->threads();
    point_.channels_of_thread = engine->ChannelsOfThread();
    if (const absl::Status begun = Measure(*engine, evidence, warmup, interval); !begun.ok()) return begun;
    Engine& measured_by = *engine;
    const bool told = Drain(*engine) || LeaveBehind(std::move(engine));
    rank_.Compare();
    if (!told) return absl::InternalError(absl::StrCat(NotEnded(), ": nothing of this point can be told"));
    if (lacks_method_) {
      hopeless_ = true;
      const bool packed = config_.compression.algorithm != Compression::kNone;
      return absl::UnimplementedError(absl::StrCat(
          "the server has no method ", config_.method.path,
          packed ? ", or takes no compressed requests (grpc_ping_server: --compression or --accept-compressed)" : "",
          " (its answer: UNIMPLEMENTED)"));
    }
    Collect(measured_by);
    evidence.Report(measurement_, config_.breakdown ? measured_by.MeasureTimingCost() : TimingCost{}, point_);
    ReportCoresPerGbit(point_);
  } catch (const std::system_error& error) {
    const std::string near = NearLimit();
    return absl::ResourceExhaustedError(absl::StrCat("cannot start the threads for ", point_.load.slots, " slots: ",
                                                     error.what(), near.empty() ? "" : absl::StrCat(" (", near, ")")));
  }
  return absl::OkStatus();
}

PointResult PointRun::Fail(std::string why) {
  rank_.Fail(why);
  point_.failure = std::move(why);
  point_.partial = interrupt_.signal() != 0;
  return std::move(point_);
}

// The library closes the connections of the last point in the background; they would be counted as ours.
void PointRun::WaitForOldConnections() {
  const Nanos give_up_at = NowNs() + kNanosPerSecond;
  while (CountConnections(setting_.endpoints).value_or(0) > 0 && NowNs() < give_up_at) {
    if (interrupt_.SleepUntil(NowNs() + 2 * kNanosPerMilli)) return;
  }
}

// Newer releases try the addresses of a name side by side; the attempts that lost may be established for a moment.
void PointRun::WaitForLostAttempts() {
  const Nanos give_up_at = NowNs() + kNanosPerSecond;
  while (CountConnections(setting_.endpoints) > point_.expected_connections && NowNs() < give_up_at) {
    if (interrupt_.SleepUntil(NowNs() + 10 * kNanosPerMilli)) return;
  }
}

// A channel may open further connections under load; the highest count that was seen is the point's.
std::optional<std::vector<OpenConnection>> PointRun::LookAtConnections() {
  if (setting_.endpoints.empty()) return std::nullopt;
  auto connections = FindConnections(setting_.endpoints, apart_);
  if (connections) point_.connections = std::max(point_.connections.value_or(0), static_cast<int>(connections->size()));
  return connections;
}

// Sockets that have come since the channels were connected are the control service's.
void PointRun::SetApart(const std::vector<OpenConnection>& measured) {
  for (const OpenConnection& c : FindConnections(setting_.endpoints).value_or(std::vector<OpenConnection>())) {
    const auto same = [&](const OpenConnection& other) { return other.id == c.id; };
    if (std::none_of(measured.begin(), measured.end(), same)) apart_.insert(c.id);
  }
}

void PointRun::CheckPromise() {
  if (!point_.connections || *point_.connections == point_.expected_connections) return;
  // gRPC's connection scaling (gRFC A105): a channel opens as many as the server's stream limit takes.
  const bool may_grow = absl::StrContains(config_.service_config, "\"connectionScaling\"");
  if (may_grow && *point_.connections > point_.expected_connections) return;
  point_.warnings.push_back(absl::StrCat("policy ", config_.policy.ToString(), " promises ",
                                         point_.expected_connections, " connection(s), this process has ",
                                         *point_.connections));
}

// Samples are taken just outside of the window, so that what they cost is not in what is measured. Where allocations
// are counted it is the other way round: the window is open all the time, and what counts is completed between the
// samples.
absl::Status PointRun::Measure(Engine& engine, PointEvidence& evidence, Nanos warmup, Nanos interval) {
  const Nanos before_look = NowNs();
  const auto connections = LookAtConnections();
  const Nanos lead = 2 * (NowNs() - before_look);
  evidence.Rehearse(connections);
  const bool counts = config_.skip_first > 0;
  const bool warms_up = counts || warmup >= lead + evidence.Lead();
  const auto completed = [&engine] { return engine.Completed(); };
  const auto started = AwaitStart(evidence, {lead + evidence.Lead(), warmup, interval}, warms_up, completed);
  if (!started.ok()) return started.status();
  const Nanos start = *started;
  Nanos open = rank_.agreed() ? rank_.window().open_ns : start + warmup;
  if (counting_) {
    window_->Set(start, open + interval + kPastCounting);
  } else if (!counts) {
    window_->Set(open, open + interval);
  }
  engine.Start();
  Phase(engine, start, warms_up && !counts ? open - lead - evidence.Lead() : open, /*measuring=*/false);
  if (counts) SkipFirst(engine, start, open + interval);
  if (point_.partial || lacks_method_) return absl::OkStatus();  // there is no window
  if (warms_up) {
    evidence.Find(LookAtConnections());
    evidence.Begin(completed);
  }
  if (counts) open = NowNs() + (counting_ ? 0 : evidence.Lead());
  if (counting_) {
    done_before_ = engine.Completed();
  } else if (counts) {
    window_->Set(open, open + interval);
  }
  if (rank_.agreed()) {
    Phase(engine, start, open, /*measuring=*/false);
    rank_.SawOpen(NowNs());
  }
  const Nanos slept = SleptNs();
  Phase(engine, open, open + interval, /*measuring=*/true, config_.total);
  slept_ns_ = SleptNs() - slept;
  rank_.SawClose(NowNs());
  evidence.End(completed);
  if (counting_) CloseSoon();
  LookAtConnections();
  return absl::OkStatus();
}

// When the calls begin: now, or, when other ranks measure with us, at the time that all agree on. Samples are taken
// before it where they cannot be taken during the warm-up.
absl::StatusOr<Nanos> PointRun::AwaitStart(PointEvidence& evidence, const RankPlan& plan, bool warms_up,
                                           const PointEvidence::Completed& completed) {
  const bool agrees = !rank_.alone() && !counting_;
  if (agrees) {
    const absl::Status agreed = rank_.Agree(plan, interrupt_);
    if (!agreed.ok()) return agreed;
    if (!warms_up) interrupt_.SleepUntil(rank_.window().start_ns - plan.lead_ns);
  }
  if (!warms_up) evidence.Begin(completed);
  if (agrees) interrupt_.SleepUntil(rank_.window().start_ns);
  return NowNs();
}

// A little ahead, so that no thread has yet recorded anything past it.
Nanos PointRun::CloseSoon() {
  window_->CloseAt(std::min(window_->close_ns(), NowNs() + kNanosPerMilli));
  return window_->close_ns();
}

// Calls since this part of the point began.
uint64_t PointRun::Done(const Engine& engine, bool measuring) const {
  return measuring || counting_ ? engine.Completed() - done_before_ : engine.CompletedBefore();
}

// The rest of a warm-up by number of calls.
void PointRun::SkipFirst(Engine& engine, Nanos begin, Nanos give_up) {
  if (point_.partial || lacks_method_) return;
  Phase(engine, begin, give_up, /*measuring=*/false, config_.skip_first);
  if (const uint64_t done = Done(engine, /*measuring=*/false); done < config_.skip_first && !point_.partial) {
    point_.notes.push_back(absl::StrCat("only ", done, " calls were left out, as more took longer than the interval ",
                                        "(--skip-first ", config_.skip_first, ")"));
  }
}

// Until that time or, unless it is 0, until so many calls are done. A signal closes the window, and so does a server
// that does not have the method of the first call.
void PointRun::Phase(Engine& engine, Nanos begin, Nanos end, bool measuring, uint64_t calls) {
  Nanos next_progress = 0;
  for (Nanos now = NowNs(); now < end; now = NowNs()) {
    rank_.Awake(now);
    engine.Tick(now);
    if (now >= next_progress) {
      ReportProgress(engine, now, begin, end, measuring);
      next_progress = now + kProgressEvery;
    }
    const uint64_t done = Done(engine, measuring);
    lacks_method_ = update_.point == 1 && engine.LacksMethod() && done == 0;
    const bool enough = calls > 0 && done >= calls;
    if (enough && !measuring) return;
    if (enough) end = counting_ ? now : CloseSoon();
    const Nanos next_look = calls > done ? UntilNextLook(now - begin, done, calls) : kTick;
    const Nanos before_end = end - RankPart::kLookBefore;
    const Nanos wake_up = rank_.agreed() && now < before_end ? before_end : end;
    point_.partial = interrupt_.SleepUntil(std::min(wake_up, now + next_look));
    if (point_.partial || lacks_method_) {
      CloseSoon();
      return;
    }
  }
}

void PointRun::ReportProgress(const Engine& engine, Nanos now, Nanos begin, Nanos end, bool measuring) {
  update_.length_ns = end - begin;
  update_.elapsed_ns = std::max<Nanos>(now - begin, 0);
  update_.measuring = measuring;
  update_.rate_per_second = measuring && update_.elapsed_ns > 0
                                ? static_cast<double>(Done(engine, measuring)) / ToSeconds(update_.elapsed_ns)
                                : 0;
  const ScheduleProgress schedule = engine.Progress(now);
  update_.sent = schedule.sent;
  update_.behind = schedule.behind;
  setting_.progress(update_);
}

bool PointRun::Drain(Engine& engine) {
  const Nanos longest = config_.deadline_ns ? std::min(*config_.deadline_ns + kNanosPerSecond, kMaxDrain) : kMaxDrain;
  const Nanos limit = point_.partial ? kDrainAfterSignal : longest;
  return DrainEngine(engine, interrupt_, window_->close_ns(), window_->close_ns() + limit, kMaxCancel);
}

// Calls have not ended though they were cancelled. Whether what was recorded can be collected all the same: the engine,
// and what its calls use, then stay until the process ends, which must measure nothing any more.
bool PointRun::LeaveBehind(std::unique_ptr<Engine> engine) {
  struct LeftBehind {
    std::unique_ptr<Engine> engine;
    std::shared_ptr<RunWindow> window;
  };
  static auto& all = *new std::vector<LeftBehind>;  // never destroyed
  point_.stuck = true;
  const bool told = engine->GiveUp();
  if (told) {
    point_.notes.push_back(absl::StrCat(NotEnded(), ": they count as unfinished, and nothing is measured after them"));
  }
  all.push_back({std::move(engine), window_});
  return told;
}

void PointRun::Collect(const Engine& engine) {
  measurement_ = Measurement();
  engine.Collect(measurement_);
  measurement_.window_ns = std::max<Nanos>(window_->close_ns() - window_->open_ns(), 0);
  if (measurement_.slice_ns > 0) {  // those that an interrupt cut off are none
    const auto whole = static_cast<size_t>(measurement_.window_ns / measurement_.slice_ns);
    measurement_.slices.resize(std::min(measurement_.slices.size(), whole));
  }
  Describe(measurement_, point_);
  if (point_.rank) point_.rank->timing = rank_.DescribeTiming(*window_, measurement_);
  ReportMessages(config_, measurement_, point_);
  if (point_.load.open() && config_.api == ClientApi::kSync) {
    point_.notes.emplace_back(
        "the shape of arrivals is not known: with the sync API each slot's thread keeps the schedule by itself");
  }
  if (point_.completed == 0) point_.failure = WhyNothing();
  if (point_.completed < config_.total && !point_.partial) {
    point_.notes.push_back(absl::StrCat("the interval ended before ", config_.total, " calls were done (--total)"));
  }
}

std::string PointRun::WhyNothing() const {
  if (!point_.errors.empty()) return absl::StrCat("no call succeeded: ", point_.errors.front().code);
  if (point_.partial) return "interrupted before anything was measured";
  return "no call ended inside the window";
}

}  // namespace cqbench
