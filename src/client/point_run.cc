#include "src/client/point_run.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cqbench/connections.h"
#include "cqbench/environment.h"
#include "cqbench/hdr_encoding.h"
#include "cqbench/process.h"

namespace cqbench {
namespace {

constexpr Nanos kTick = 10 * kNanosPerMilli;
constexpr Nanos kProgressEvery = 200 * kNanosPerMilli;
// How long calls may go on after the window: to their deadline and a little, but never longer than this.
constexpr Nanos kMaxDrain = 10 * kNanosPerSecond;
constexpr Nanos kDrainAfterSignal = kNanosPerSecond;
// After cancelling, the library must report every call as ended; anything else is a bug worth a core file.
constexpr Nanos kMaxCancel = 30 * kNanosPerSecond;
// Parts of the window whose throughputs are compared. A window too short for them says nothing about steadiness.
constexpr int kSlices = 10;
constexpr Nanos kMinSlice = 5 * kTick;
constexpr Nanos kMaxCountingPass = kNanosPerSecond;

int ThreadsFor(const RunConfig& config, int inflight) {
  const int wanted = config.threads > 0 ? config.threads : static_cast<int>(AllowedCpus().size());
  return std::clamp(wanted, 1, inflight);
}

}  // namespace

PointRun::PointRun(const PointSetting& setting, int inflight, const ProgressUpdate& update)
    : setting_(setting), config_(setting.config), interrupt_(setting.interrupt), update_(update) {
  point_.inflight = inflight;
  point_.repetition = update.repetition;
  point_.start_time = LocalTime();
}

PointResult PointRun::Run() {
  const ChannelPlan plan = PlanChannels(config_.policy, point_.inflight, static_cast<int>(config_.targets.size()));
  point_.channels = static_cast<int>(plan.channels.size());
  point_.expected_connections = plan.expected_connections;
  const auto pool = MakePool(plan);
  if (absl::IsUnavailable(pool.status())) {
    return Fail(absl::StrCat(pool.status().message(), " (", ExplainNoConnection(setting_.endpoints), ")"));
  }
  if (!pool.ok()) return Fail(std::string(pool.status().message()));
  WaitForLostAttempts();
  try {
    MeasureWith(*pool, plan, /*counting=*/false);
  } catch (const std::system_error& error) {
    return Fail(absl::StrCat("cannot start the threads for ", point_.inflight, " calls in flight: ", error.what()));
  }
  CheckPromise();
  return std::move(point_);
}

void PointRun::CountAllocations(PointResult& point) {
  const ChannelPlan plan = PlanChannels(config_.policy, point_.inflight, static_cast<int>(config_.targets.size()));
  const auto pool = MakePool(plan);
  if (!pool.ok()) {
    point.notes.push_back(absl::StrCat("allocations were not counted: ", pool.status().message()));
    return;
  }
  try {
    MeasureWith(*pool, plan, /*counting=*/true);
  } catch (const std::system_error& error) {
    point.notes.push_back(absl::StrCat("allocations were not counted: cannot start the threads: ", error.what()));
    return;
  }
  for (const auto& [name, value] : point_.figures) point.figures.Set(name, value);
  point.notes.insert(point.notes.end(), point_.notes.begin(), point_.notes.end());
}

absl::StatusOr<ChannelPool> PointRun::MakePool(const ChannelPlan& plan) {
  if (setting_.make_pool) return setting_.make_pool();
  WaitForOldConnections();
  return ChannelPool::Connect(config_, plan, [this] { return interrupt_.Pending(); });
}

void PointRun::MeasureWith(const ChannelPool& pool, const ChannelPlan& plan, bool counting) {
  const std::vector<OpenConnection> measured = LookAtConnections().value_or(std::vector<OpenConnection>());
  engine_ = MakeEngine(config_, pool, point_.inflight, ThreadsFor(config_, point_.inflight), window_);
  point_.threads = engine_->threads();
  ControlClients* servers = setting_.servers && setting_.servers->Connect() ? setting_.servers : nullptr;
  if (servers) SetApart(measured);
  PointEvidence evidence(config_, plan, servers, counting);
  Measure(evidence, counting ? std::min(config_.warmup_ns, kMaxCountingPass) : config_.warmup_ns,
          counting ? std::min(config_.interval_ns, kMaxCountingPass) : config_.interval_ns);
  Drain();
  Recorder total(&window_);
  Collect(total);
  evidence.Report(total, point_);
  if (servers) servers->Disconnect();
  engine_.reset();  // before the channels go
}

PointResult PointRun::Fail(std::string why) {
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

void PointRun::Measure(PointEvidence& evidence, Nanos warmup, Nanos interval) {
  const Nanos start = NowNs();
  const Nanos open = start + warmup;
  window_.Set(open, open + interval);
  engine_->Start();
  Phase(open, warmup, /*measuring=*/false);
  if (point_.partial) return;  // there is no window
  evidence.Find(LookAtConnections());
  evidence.Begin();
  Phase(window_.close_ns(), interval, /*measuring=*/true);
  evidence.End();
  LookAtConnections();
}

// Until that time, or until a signal closes the window.
void PointRun::Phase(Nanos end, Nanos length, bool measuring) {
  Nanos next_progress = 0, next_reading = end - length;
  for (Nanos now = NowNs(); now < end; now = NowNs()) {
    engine_->Tick(now);
    if (measuring && now >= next_reading) {
      readings_.push_back({now, engine_->Completed()});
      next_reading += std::max(length / kSlices, kMinSlice);
    }
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

void PointRun::ReportProgress(Nanos now, Nanos end, Nanos length, bool measuring) {
  update_.length_ns = length;
  update_.elapsed_ns = length - (end - now);
  update_.measuring = measuring;
  update_.rate_per_second = measuring && update_.elapsed_ns > 0
                                ? static_cast<double>(engine_->Completed()) / ToSeconds(update_.elapsed_ns)
                                : 0;
  setting_.progress(update_);
}

void PointRun::Drain() {
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

void PointRun::Collect(Recorder& total) {
  engine_->Collect(total, point_.completed_per_worker);
  point_.window_ns = std::max<Nanos>(window_.close_ns() - window_.open_ns(), 0);
  point_.completed = total.Completed();
  point_.latency = Summarize(total.latency());
  point_.latency_histogram = EncodeHdr(total.latency());
  for (int code = 0; code < kNumOutcomes; ++code) {
    const auto i = static_cast<size_t>(code);
    if (total.failures().count[i] == 0) continue;
    point_.errors.push_back(
        {std::string(OutcomeName(code)), total.failures().count[i], total.failures().first_message[i]});
  }
  std::stable_sort(point_.errors.begin(), point_.errors.end(),
                   [](const ErrorCount& a, const ErrorCount& b) { return a.count > b.count; });
  CollectSlices();
  if (point_.completed == 0) point_.failure = WhyNothing();
}

void PointRun::CollectSlices() {
  if (readings_.size() < kSlices) return;
  readings_.push_back({window_.close_ns(), point_.completed});
  for (size_t i = 1; i < readings_.size(); ++i) {
    const Nanos length = readings_[i].at_ns - readings_[i - 1].at_ns;
    if (length <= 0) continue;
    point_.slices_per_second.push_back(static_cast<double>(readings_[i].completed - readings_[i - 1].completed) /
                                       ToSeconds(length));
  }
}

std::string PointRun::WhyNothing() const {
  if (!point_.errors.empty()) return absl::StrCat("no call succeeded: ", point_.errors.front().code);
  if (point_.partial) return "interrupted before anything was measured";
  return "no call ended inside the window";
}

}  // namespace cqbench
