#include "src/load/run/point_steps.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/machine.h"

namespace cqbench {
namespace {

constexpr Nanos kTick = 10 * kNanosPerMilli;
constexpr Nanos kMinTick = kNanosPerMilli;
constexpr Nanos kProgressEvery = 200 * kNanosPerMilli;
// Allocations are counted up to a moment in the midst of the calls: the window must not close before.
constexpr Nanos kPastCounting = 3600 * kNanosPerSecond;

// Wakes up more often when the last call is near. So the end is not missed by much, and waking up costs nothing before.
Nanos UntilNextCheck(Nanos elapsed, uint64_t done, uint64_t calls) {
  const double per_call = static_cast<double>(elapsed) / static_cast<double>(std::max<uint64_t>(done, 1));
  return static_cast<Nanos>(std::clamp(per_call * static_cast<double>(calls - done), static_cast<double>(kMinTick),
                                       static_cast<double>(kTick)));
}

}  // namespace

PointSteps::PointSteps(const PointSetting& setting, const Parts& parts, const PointPhases& phases, bool counting)
    : setting_(setting),
      config_(setting.config),
      interrupt_(setting.interrupt),
      engine_(parts.engine),
      evidence_(parts.evidence),
      connections_(parts.connections),
      window_(parts.window),
      rank_(parts.rank),
      update_(parts.update),
      point_(parts.point),
      phases_(phases),
      counting_(counting) {}

absl::Status PointSteps::Run() {
  Rehearse();
  if (absl::Status agreed = AwaitStart(); !agreed.ok()) return agreed;
  if (counting_) {
    CountAllocations();
  } else if (config_.skip_first > 0) {
    MeasureAfterCalls();
  } else {
    MeasureAfterTime();
  }
  return absl::OkStatus();
}

// Samples are taken just outside of the window: what they cost is not measured.
void PointSteps::MeasureAfterTime() {
  SetWindow(open_ns_);
  engine_.Start();
  WarmUp();
  if (IsOver()) return;
  BeginSamples();
  AwaitWindow();
  MeasureWindow();
  EndSamples();
}

// With --skip-first nobody knows beforehand when the warm-up ends.
void PointSteps::MeasureAfterCalls() {
  engine_.Start();
  WarmUp();
  if (IsOver()) return;
  BeginSamples();
  SetWindow(NowNs() + evidence_.Lead());
  AwaitWindow();
  MeasureWindow();
  EndSamples();
}

// The window is open all the time; only calls that complete between the samples count.
void PointSteps::CountAllocations() {
  window_.Set(start_ns_, open_ns_ + phases_.interval_ns + kPastCounting);
  engine_.Start();
  WarmUp();
  if (IsOver()) return;
  BeginSamples();
  open_ns_ = NowNs();
  not_counted_ = engine_.Completed();
  MeasureWindow();
  EndSamples();
  CloseSoon();
}

void PointSteps::Rehearse() {
  const Nanos begun = NowNs();
  const auto connections = connections_.Read();
  const Nanos reading = 2 * (NowNs() - begun);
  evidence_.Rehearse(connections);
  lead_ns_ = reading + evidence_.Lead();
  samples_in_warmup_ = config_.skip_first > 0 || phases_.warmup_ns >= lead_ns_;
}

// The first call is made now or, with other ranks, at the time that all agree on.
absl::Status PointSteps::AwaitStart() {
  if (Agrees()) {
    const RankPlan plan{lead_ns_, phases_.warmup_ns, phases_.interval_ns};
    if (absl::Status agreed = rank_.Agree(plan, interrupt_); !agreed.ok()) return agreed;
    if (!samples_in_warmup_) interrupt_.SleepUntil(rank_.window().start_ns - lead_ns_);
  }
  if (!samples_in_warmup_) evidence_.Begin([this] { return engine_.Completed(); });
  if (Agrees()) interrupt_.SleepUntil(rank_.window().start_ns);
  start_ns_ = NowNs();
  open_ns_ = rank_.agreed() ? rank_.window().open_ns : start_ns_ + phases_.warmup_ns;
  return absl::OkStatus();
}

void PointSteps::SetWindow(Nanos open) {
  open_ns_ = open;
  window_.Set(open, open + phases_.interval_ns);
}

void PointSteps::WarmUp() {
  const bool by_calls = config_.skip_first > 0;
  RunPhase(Phase::kWarmup, start_ns_, samples_in_warmup_ && !by_calls ? open_ns_ - lead_ns_ : open_ns_);
  if (by_calls && !IsOver()) SkipFirst();
}

// The rest of a warm-up by number of calls.
void PointSteps::SkipFirst() {
  RunPhase(Phase::kWarmup, start_ns_, open_ns_ + phases_.interval_ns, config_.skip_first);
  if (const uint64_t done = Completed(Phase::kWarmup); done < config_.skip_first && !point_.partial) {
    point_.notes.push_back(
        {kCallsLeftOut, absl::StrCat("only ", done, " calls were left out, as more took longer than the interval ",
                                     "(--skip-first ", config_.skip_first, ")")});
  }
}

void PointSteps::BeginSamples() {
  if (!samples_in_warmup_) return;
  evidence_.Find(connections_.Read());
  evidence_.Begin([this] { return engine_.Completed(); });
}

// A rank notes when it saw its window open.
void PointSteps::AwaitWindow() {
  if (!rank_.agreed()) return;
  RunPhase(Phase::kWarmup, start_ns_, open_ns_);
  rank_.SawOpen(NowNs());
}

void PointSteps::MeasureWindow() {
  const Nanos slept = SleptNs();
  RunPhase(Phase::kWindow, open_ns_, open_ns_ + phases_.interval_ns, config_.total);
  slept_ns_ = SleptNs() - slept;
  rank_.SawClose(NowNs());
}

void PointSteps::EndSamples() {
  evidence_.End([this] { return engine_.Completed(); });
  connections_.Read();
}

// Closes the window a little ahead of now, so that no thread has yet recorded anything past it.
Nanos PointSteps::CloseSoon() {
  window_.CloseAt(std::min(window_.close_ns(), NowNs() + kNanosPerMilli));
  return window_.close_ns();
}

// Returns the calls that this phase has completed.
uint64_t PointSteps::Completed(Phase phase) const {
  const bool in_window = phase == Phase::kWindow || counting_;
  return in_window ? engine_.Completed() - not_counted_ : engine_.CompletedBefore();
}

// Lasts until `end` or, unless `calls` is 0, until that many calls are completed. A signal closes the window, and so
// does a server that lacks the method of the first call.
void PointSteps::RunPhase(Phase phase, Nanos begin, Nanos end, uint64_t calls) {
  Nanos next_progress = 0;
  for (Nanos now = NowNs(); now < end; now = NowNs()) {
    rank_.Awake(now);
    engine_.Tick(now);
    if (now >= next_progress) {
      ReportProgress(phase, now, begin, end);
      next_progress = now + kProgressEvery;
    }
    const uint64_t done = Completed(phase);
    lacks_method_ = update_.point == 1 && engine_.LacksMethod() && done == 0;
    const bool enough = calls > 0 && done >= calls;
    if (enough && phase == Phase::kWarmup) return;
    if (enough) end = counting_ ? now : CloseSoon();
    const Nanos next_check = calls > done ? UntilNextCheck(now - begin, done, calls) : kTick;
    const Nanos before_end = end - RankPart::kAwakeBefore;
    const Nanos wake_up = rank_.agreed() && now < before_end ? before_end : end;
    point_.partial = interrupt_.SleepUntil(std::min(wake_up, now + next_check));
    if (IsOver()) {
      CloseSoon();
      return;
    }
  }
}

void PointSteps::ReportProgress(Phase phase, Nanos now, Nanos begin, Nanos end) {
  update_.measuring = phase == Phase::kWindow;
  update_.length_ns = end - begin;
  update_.elapsed_ns = std::max<Nanos>(now - begin, 0);
  update_.rate_per_second = update_.measuring && update_.elapsed_ns > 0
                                ? static_cast<double>(Completed(phase)) / ToSeconds(update_.elapsed_ns)
                                : 0;
  update_.failed = engine_.Failed();
  const ScheduleProgress schedule = engine_.Progress(now);
  update_.sent = schedule.sent;
  update_.behind = schedule.behind;
  setting_.progress(update_);
}

}  // namespace cqbench
