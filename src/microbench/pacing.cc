// schedule/…, pacer/…, arrival-queue/…: the open loop's own work, on a simulated clock that jumps to the time that is
// waited for.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/schedule.h"
#include "src/load/pacing/arrival_queue.h"
#include "src/load/pacing/pacer.h"
#include "src/microbench/suite.h"

namespace cqbench::microbench {
namespace {

constexpr double kRate = 100'000;
constexpr Nanos kLength = kNanosPerSecond / 100;  // a thousand calls

class JumpingClock {
 public:
  Nanos Now() const { return now_; }
  Nanos WaitUntil(Nanos due) const { return now_ = std::max(now_, due); }

 private:
  mutable Nanos now_ = 0;
};

// Draws the schedule of the first of the pacers that share kRate.
DueTimes Draw(Arrivals arrivals, int pacers = 1) {
  ScheduleConfig config;
  config.arrivals = arrivals;
  auto drawn = DrawSchedule(config, kRate, kLength, pacers);
  return drawn.ok() ? std::move(drawn->front()) : DueTimes();
}

void SetCalls(benchmark::State& state, size_t calls) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(calls));
}

void DrawAll(benchmark::State& state, Arrivals arrivals, int pacers) {
  ScheduleConfig config;
  config.arrivals = arrivals;
  size_t calls = 0;
  Measure(state, [&] {
    auto drawn = DrawSchedule(config, kRate, kLength, pacers);
    calls = 0;
    for (const DueTimes& times : *drawn) calls += times.size();
  });
  if (calls == 0) return Fail(state, "nothing was drawn");
  SetCalls(state, calls);
}

void Hash(benchmark::State& state) {
  const std::vector<DueTimes> schedule{Draw(Arrivals::kPoisson)};
  Measure(state, [&] {
    uint64_t hash = HashSchedule(schedule);
    benchmark::DoNotOptimize(hash);
  });
  SetCalls(state, schedule.front().size());
}

// Paces a thousand calls from their scheduled time to the hand-over. Each call ends at once (kQueue), or finds no slot
// and is dropped. The queue's copy of the schedule is the only allocation.
void Pace(benchmark::State& state, AtLimit at_limit) {
  const DueTimes due = Draw(Arrivals::kPoisson);
  RunWindow window;
  window.Set(0, INT64_MAX);
  Recorder recorder(&window, /*open_loop=*/true);
  FreeNode slot;
  size_t sent = 0;
  Measure(state, [&] {
    ArrivalQueue queue(due, 1);
    queue.Start(0);
    if (at_limit == AtLimit::kQueue) queue.Free(&slot);
    const JumpingClock clock;
    sent = 0;
    PaceCalls(queue, clock, at_limit, window, recorder, [&](FreeNode* free, Nanos, Nanos) {
      ++sent;
      queue.Free(free);
    });
  });
  if (sent != (at_limit == AtLimit::kQueue ? due.size() : 0)) return Fail(state, "calls went astray");
  SetCalls(state, due.size());
}

// Passes one call through the queue: announce it, take a slot and a place in the schedule, free the slot.
void PassArrivalQueue(benchmark::State& state) {
  ArrivalQueue queue({0}, 1);
  queue.Start(0);
  FreeNode slot;
  queue.Free(&slot);
  bool ok = true;
  Measure(state, [&] {
    ok &= queue.Announce();
    size_t index = queue.TakeIndex();
    benchmark::DoNotOptimize(index);
    ok &= queue.Free(static_cast<FreeNode*>(queue.TakeSlot())) == ArrivalQueue::kNone;
  });
  if (!ok) Fail(state, "there was no slot");
}

void MeterGaps(benchmark::State& state) {
  const DueTimes due = Draw(Arrivals::kPoisson);
  GapMeter meter;
  size_t i = 0;
  Measure(state, [&] {
    meter.Add(due[i]);
    benchmark::DoNotOptimize(meter);
    i = (i + 1) % due.size();
  });
}

// Waits for a time in the past: the minimum cost of waiting.
void WaitForThePast(benchmark::State& state) {
  const PacerClock clock(Pace::kSpin, 0);
  Measure(state, [&] {
    Nanos now = clock.WaitUntil(0);
    benchmark::DoNotOptimize(now);
  });
}

}  // namespace

void RegisterPacing() {
  for (const Arrivals arrivals : {Arrivals::kPoisson, Arrivals::kConstant}) {
    for (const int pacers : {1, 4}) {
      Add(absl::StrCat("schedule/draw/", ToString(arrivals), "/pacers:", pacers),
          [=](benchmark::State& state) { DrawAll(state, arrivals, pacers); });
    }
  }
  Add("schedule/hash", Hash);
  Add("pacer/send", [](benchmark::State& state) { Pace(state, AtLimit::kQueue); });
  Add("pacer/drop", [](benchmark::State& state) { Pace(state, AtLimit::kDrop); });
  Add("pacer/wait-for-the-past", WaitForThePast);
  Add("arrival-queue/pass", PassArrivalQueue);
  Add("gap-meter/add", MeterGaps);
}

}  // namespace cqbench::microbench
