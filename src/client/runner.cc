#include "cqbench/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cqbench/connections.h"
#include "cqbench/engine.h"
#include "cqbench/environment.h"
#include "cqbench/process.h"
#include "src/channel/channel_pool.h"

namespace cqbench {
namespace {

constexpr Nanos kTick = 10 * kNanosPerMilli;
constexpr Nanos kProgressEvery = 200 * kNanosPerMilli;
// How long calls may go on after the window: to their deadline and a little, but never longer than this.
constexpr Nanos kMaxDrain = 10 * kNanosPerSecond;
constexpr Nanos kDrainAfterSignal = kNanosPerSecond;
// After cancelling, the library must report every call as ended; anything else is a bug worth a core file.
constexpr Nanos kMaxCancel = 30 * kNanosPerSecond;
// Descriptors beside connections: epoll sets, wake-up pipes, standard streams, resolver sockets.
constexpr uint64_t kOtherDescriptors = 64;

int ThreadsFor(const RunConfig& config, int inflight) {
  const int wanted = config.threads > 0 ? config.threads : static_cast<int>(AllowedCpus().size());
  return std::clamp(wanted, 1, inflight);
}

// One point of the sweep.
class PointRun {
 public:
  PointRun(const RunConfig& config, const std::vector<Endpoint>& endpoints, int inflight, Interrupt& interrupt,
           const ProgressCallback& progress, const ProgressUpdate& update)
      : config_(config), endpoints_(endpoints), interrupt_(interrupt), progress_(progress), update_(update) {
    point_.inflight = inflight;
    point_.repetition = update.repetition;
    point_.start_time = LocalTime();
  }

  PointResult Run() {
    WaitForOldConnections();
    const ChannelPlan plan = PlanChannels(config_.policy, point_.inflight, static_cast<int>(config_.targets.size()));
    point_.channels = static_cast<int>(plan.channels.size());
    point_.expected_connections = plan.expected_connections;
    auto pool = ChannelPool::Connect(config_, plan, [this] { return interrupt_.Pending(); });
    if (absl::IsUnavailable(pool.status())) {
      return Fail(absl::StrCat(pool.status().message(), " (", ExplainNoConnection(endpoints_), ")"));
    }
    if (!pool.ok()) return Fail(std::string(pool.status().message()));
    CheckConnections();
    try {
      engine_ = MakeEngine(config_, *pool, point_.inflight, ThreadsFor(config_, point_.inflight), window_);
    } catch (const std::system_error& error) {
      return Fail(absl::StrCat("cannot start the threads for ", point_.inflight, " calls in flight: ", error.what()));
    }
    point_.threads = engine_->threads();
    Measure();
    Drain();
    Collect();
    engine_.reset();  // before the channels go
    return std::move(point_);
  }

 private:
  PointResult Fail(std::string why) {
    point_.failure = std::move(why);
    point_.partial = interrupt_.signal() != 0;
    return std::move(point_);
  }

  // The library closes the connections of the last point in the background; they would be counted as ours.
  void WaitForOldConnections() {
    const Nanos give_up_at = NowNs() + kNanosPerSecond;
    while (CountConnections(endpoints_).value_or(0) > 0 && NowNs() < give_up_at) {
      if (interrupt_.SleepUntil(NowNs() + 2 * kNanosPerMilli)) return;
    }
  }

  void CheckConnections() {
    point_.connections = CountConnections(endpoints_);
    // Newer releases try the addresses of a name side by side; the attempts that lost may be established for a moment.
    const Nanos give_up_at = NowNs() + kNanosPerSecond;
    while (point_.connections > point_.expected_connections && NowNs() < give_up_at) {
      if (interrupt_.SleepUntil(NowNs() + 10 * kNanosPerMilli)) break;
      point_.connections = CountConnections(endpoints_);
    }
    if (point_.connections && *point_.connections != point_.expected_connections) {
      point_.warnings.push_back(absl::StrCat("policy ", config_.policy.ToString(), " promises ",
                                             point_.expected_connections, " connection(s), this process has ",
                                             *point_.connections));
    }
  }

  void Measure() {
    const Nanos start = NowNs();
    const Nanos open = start + config_.warmup_ns;
    window_.Set(open, open + config_.interval_ns);
    engine_->Start();
    Phase(open, config_.warmup_ns, /*measuring=*/false);
    cpu_at_open_ = ReadCpuTime();
    Phase(window_.close_ns(), config_.interval_ns, /*measuring=*/true);
    cpu_at_close_ = ReadCpuTime();
  }

  // Until that time, or until a signal closes the window.
  void Phase(Nanos end, Nanos length, bool measuring) {
    Nanos next_progress = 0;
    for (Nanos now = NowNs(); now < end; now = NowNs()) {
      engine_->Tick(now);
      if (now >= next_progress) {
        ReportProgress(now, end, length, measuring);
        next_progress = now + kProgressEvery;
      }
      if (interrupt_.SleepUntil(std::min(end, now + kTick))) {
        // A little ahead, so that no worker has yet recorded anything past it.
        window_.CloseAt(std::min(window_.close_ns(), NowNs() + kNanosPerMilli));
        point_.partial = true;
        return;
      }
    }
  }

  void ReportProgress(Nanos now, Nanos end, Nanos length, bool measuring) {
    update_.length_ns = length;
    update_.elapsed_ns = length - (end - now);
    update_.measuring = measuring;
    update_.rate_per_second = measuring && update_.elapsed_ns > 0
                                  ? static_cast<double>(engine_->Completed()) / ToSeconds(update_.elapsed_ns)
                                  : 0;
    progress_(update_);
  }

  void Drain() {
    const Nanos limit = point_.partial ? kDrainAfterSignal : std::min(config_.deadline_ns + kNanosPerSecond, kMaxDrain);
    Nanos cancel_at = window_.close_ns() + limit;
    bool cancelled = false;
    while (!engine_->Finished()) {
      const Nanos now = NowNs();
      engine_->Tick(now);
      // A signal while draining cuts the waiting short, not the window, which is over.
      if (interrupt_.Pending()) cancel_at = std::min(cancel_at, window_.close_ns() + kDrainAfterSignal);
      std::this_thread::sleep_for(std::chrono::nanoseconds(kNanosPerMilli));
      if (!cancelled && now > cancel_at) {
        point_.unfinished = static_cast<uint64_t>(engine_->CancelAll());
        cancelled = true;
      }
      if (now > cancel_at + kMaxCancel) std::abort();
    }
    engine_->Join();
  }

  void Collect() {
    Recorder total(&window_);
    engine_->Collect(total, point_.completed_per_worker);
    point_.window_ns = std::max<Nanos>(window_.close_ns() - window_.open_ns(), 0);
    point_.completed = total.Completed();
    point_.latency = Summarize(total.latency());
    for (int code = 0; code < kNumOutcomes; ++code) {
      const auto i = static_cast<size_t>(code);
      if (total.failures().count[i] == 0) continue;
      point_.errors.push_back(
          {std::string(OutcomeName(code)), total.failures().count[i], total.failures().first_message[i]});
    }
    std::stable_sort(point_.errors.begin(), point_.errors.end(),
                     [](const ErrorCount& a, const ErrorCount& b) { return a.count > b.count; });
    CollectCpu();
    if (point_.completed == 0) point_.failure = WhyNothing();
  }

  // The runner reads CPU times when it is woken, which is a little off the edges; scaled to the window.
  void CollectCpu() {
    const Nanos between = cpu_at_close_.taken_at_ns - cpu_at_open_.taken_at_ns;
    if (between <= 0) return;
    const double scale = static_cast<double>(point_.window_ns) / static_cast<double>(between);
    point_.cpu_user_ns = static_cast<Nanos>(scale * static_cast<double>(cpu_at_close_.user_ns - cpu_at_open_.user_ns));
    point_.cpu_system_ns =
        static_cast<Nanos>(scale * static_cast<double>(cpu_at_close_.system_ns - cpu_at_open_.system_ns));
  }

  std::string WhyNothing() const {
    if (!point_.errors.empty()) return absl::StrCat("no call succeeded: ", point_.errors.front().code);
    if (point_.partial) return "interrupted before anything was measured";
    return "no call ended inside the window";
  }

  const RunConfig& config_;
  const std::vector<Endpoint>& endpoints_;
  Interrupt& interrupt_;
  const ProgressCallback& progress_;
  ProgressUpdate update_;
  PointResult point_;
  RunWindow window_;
  std::unique_ptr<Engine> engine_;
  CpuTime cpu_at_open_;
  CpuTime cpu_at_close_;
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
  SweepResult sweep;
  const auto endpoints = ResolveTargets(config.targets);
  if (!endpoints.ok()) return sweep;  // CheckRunnable() has said so
  ProgressUpdate update;
  update.points = config.repetitions * static_cast<int>(config.inflight.size());
  for (update.repetition = 0; update.repetition < config.repetitions; ++update.repetition) {
    for (int inflight : config.inflight) {
      ++update.point;
      update.inflight = inflight;
      sweep.points.push_back(PointRun(config, *endpoints, inflight, interrupt, progress, update).Run());
      sweep.partial = interrupt.Pending();
      const bool never_connected =
          update.point == 1 && sweep.points.back().channels > 0 && sweep.points.back().window_ns == 0;
      if (sweep.partial || never_connected) return sweep;
    }
  }
  return sweep;
}

}  // namespace cqbench
