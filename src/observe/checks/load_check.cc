#include "src/observe/checks/load_check.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/config/units.h"
#include "src/observe/checks/self_check.h"
#include "src/observe/checks/thresholds.h"

namespace cqbench {
namespace {

struct Part {
  double rate = 0;  // successes per second
  Nanos length_ns = 0;
};

// The time series in at most kParts equal parts.
std::vector<Part> Parts(const PointResult& point) {
  const size_t n = point.time_buckets.size(), parts = std::min(kParts, n);
  std::vector<Part> all;
  for (size_t i = 0; i < parts; ++i) {
    const size_t begin = i * n / parts, end = (i + 1) * n / parts;
    uint64_t completed = 0;
    for (size_t s = begin; s < end; ++s) completed += point.time_buckets[s].completed;
    const auto length = static_cast<Nanos>(end - begin) * point.bucket_ns;
    all.push_back({static_cast<double>(completed) / ToSeconds(length), length});
  }
  return all;
}

// Mean and sum of squared deviations of parts [begin, end).
struct Moments {
  double mean = 0;
  double squares = 0;
};
Moments Of(const std::vector<Part>& parts, size_t begin, size_t end) {
  Moments m;
  for (size_t i = begin; i < end; ++i) m.mean += parts[i].rate / static_cast<double>(end - begin);
  for (size_t i = begin; i < end; ++i) m.squares += (parts[i].rate - m.mean) * (parts[i].rate - m.mean);
  return m;
}

// True when the first part is off the rest: the halves are not judged then.
bool CheckFirstPart(PointResult& point, const std::vector<Part>& parts, double chance) {
  const size_t n = parts.size();
  const Moments rest = Of(parts, 1, n);
  if (rest.mean <= 0) return false;
  const auto others = static_cast<double>(n - 1);
  const double error = std::sqrt(rest.squares / (others - 1) * (1 + 1 / others)) / rest.mean;
  const double off = parts[0].rate / rest.mean - 1;
  const double noise = std::min(kDeviations * error, kMostUnsettled);
  if (std::abs(off) <= std::max({kUnsettledShare, noise, kUnsettledChance * chance})) return false;
  point.warnings.push_back(
      {kNotWarmedUp, absl::StrFormat("not warmed up: throughput of the first %s of the window is %+.0f %% off the rest",
                                     FormatDuration(parts[0].length_ns), 100 * off)});
  return true;
}

void CheckHalves(PointResult& point, const std::vector<Part>& parts, double chance) {
  const size_t n = parts.size(), half = n / 2;
  const Moments first = Of(parts, 0, half), second = Of(parts, half, n);
  double drift = 1, error = 0;
  if (first.mean > 0) {
    const double variance = (first.squares + second.squares) / static_cast<double>(n - 2);
    drift = second.mean / first.mean - 1;
    error = std::sqrt(variance * (1.0 / static_cast<double>(half) + 1.0 / static_cast<double>(n - half))) / first.mean;
  }
  const double noise = std::min(kDeviations * error, kMostDrift);
  if (std::abs(drift) <= std::max({kDriftShare, noise, kDriftChance * chance})) return;
  point.warnings.push_back(
      {kDrift,
       absl::StrFormat("throughput drifts: %+.0f %% from the first to the second half of the window", 100 * drift)});
}

// Calls due in the window that found all slots taken.
uint64_t KeptBack(const PointResult& point) {
  const bool waited = point.open_loop->slot_wait_max_ns > 0 || point.counts.dropped > 0;
  return point.counts.dropped + (waited ? point.counts.unsent : 0);
}

void CheckRate(PointResult& point) {
  const double asked = point.load.rate * ToSeconds(point.window_ns);
  if (asked <= 0) return;
  // Calls that found no slot are the server's, or --max-outstanding's: a limit, said there. The client was in time.
  const auto made = static_cast<double>(point.counts.sent + KeptBack(point));
  if (std::abs(made / asked - 1) <= std::max(kRateShare, kRateChance / std::sqrt(asked))) return;
  point.warnings.push_back({kRateNotReached, absl::StrFormat("the rate was not reached: %d calls sent, target %.0f "
                                                             "(%+.1f %%): the client was measured, not the server",
                                                             point.counts.sent, asked, 100 * (made / asked - 1))});
}

void CheckLateness(PointResult& point) {
  if (point.counts.due < kCallsForLateness) return;
  const double late = static_cast<double>(point.open_loop->lateness_p99_ns);
  const double done = point.latency ? static_cast<double>(point.latency->p99_ns) : 0;
  if (late <= std::max(static_cast<double>(kLate), kLateShare * done)) return;
  point.warnings.push_back(
      {kPacerLate, absl::StrFormat("the pacer was late: %.0f µs at P99, of %.0f µs from scheduled to done: latencies "
                                   "include the client's delay",
                                   late / 1e3, done / 1e3)});
}

void CheckShape(PointResult& point, Arrivals arrivals) {
  const OpenLoopResult& open = *point.open_loop;
  if (!open.gap_cv || point.counts.due == 0) return;
  const double chance = kGapChance / std::sqrt(static_cast<double>(point.counts.due));
  const double correlation = open.gap_correlation.value_or(0);
  if (arrivals == Arrivals::kPoisson) {
    if (std::abs(*open.gap_cv - 1) <= std::max(kPoissonVariation, chance) &&
        std::abs(correlation) <= std::max(kPoissonCorrelation, chance)) {
      return;
    }
    point.warnings.push_back(
        {kArrivalsShape, absl::StrFormat("arrivals were not Poisson: their gaps vary by %.2f x the "
                                         "mean (1), successive gaps correlate by %.2f (0)",
                                         *open.gap_cv, correlation)});
    return;
  }
  const double gap = std::max(open.pacers, 1) / point.load.rate;
  if (gap < kShortestConstantGap || *open.gap_cv <= kConstantVariation) return;
  point.warnings.push_back(
      {kArrivalsShape,
       absl::StrFormat("arrivals were not constant: their gaps vary by %.2f x the mean (0)", *open.gap_cv)});
}

void CheckBacklog(PointResult& point) {
  const double first = point.open_loop->outstanding_first_half, second = point.open_loop->outstanding_second_half;
  const auto due = static_cast<double>(point.counts.due);
  if (second <= kBacklogRatio * first) return;
  if (second - first <= std::max(kBacklogShare * due, kBacklogChance * std::sqrt(due))) return;
  point.warnings.push_back(
      {kBacklogGrows,
       absl::StrFormat("calls pile up: %.1f were outstanding on average in the first half of the window, "
                       "%.1f in the second: latencies depend on how long it is",
                       first, second)});
}

}  // namespace

void CheckUnfinished(PointResult& point) {
  const CallCounts& counts = point.counts;
  if (counts.unfinished == 0 && counts.unsent == 0) return;
  std::string text;
  if (counts.unfinished > 0) text = absl::StrCat(counts.unfinished, " call(s) never ended");
  if (counts.unsent > 0) {
    absl::StrAppend(&text, text.empty() ? "" : " and ", counts.unsent, " call(s) that were due were never sent");
  }
  absl::StrAppend(&text, ": counted with their age; percentiles they could change are withheld");
  point.warnings.push_back({kUnfinishedCalls, std::move(text)});
}

void CheckSteadiness(PointResult& point) {
  const std::vector<Part> parts = Parts(point);
  if (parts.size() < kFewestParts) return;
  const auto calls = static_cast<double>(point.completed);
  if (calls < kCallsPerPart * static_cast<double>(parts.size())) return;
  const double chance = 1 / std::sqrt(calls);
  if (!CheckFirstPart(point, parts, chance)) CheckHalves(point, parts, chance);
}

// A call is due when the one before it has ended, so that a slot is in a call all the time: over the window, throughput
// x mean latency is the number of slots. It is not when slots are lost, or time passes between calls. What else makes
// them differ is allowed for: each slot has one call across either window boundary, which together are off by one
// longest call at most; and failed calls are in neither figure, nor the back-off after them.
void CheckLittlesLaw(PointResult& point, const RunConfig& config) {
  if (!point.latency || point.counts.unfinished > 0 || point.completed < kCallsForLittle) return;
  const double slots = point.load.slots, window = ToSeconds(point.window_ns);
  const double in_calls = point.ThroughputPerSecond() * point.latency->mean_ns / 1e9;
  const double across = ToSeconds(point.latency->max_ns) / window;
  const Nanos longest = config.deadline_ns.value_or(point.window_ns);  // of a failed call
  const double failures =
      static_cast<double>(point.Failed()) * ToSeconds(kBackOffAfterFailure + longest) / (slots * window);
  if (std::abs(in_calls / slots - 1) <= kLittleShare + across + failures) return;
  point.warnings.push_back(
      {kLittlesLaw,
       absl::StrFormat("calls do not account for all time: throughput x mean latency is %.2f calls in flight, "
                       "not %d (Little's law)",
                       in_calls, point.load.slots)});
}

void CheckSlots(PointResult& point) {
  if (!point.open_loop) return;
  const OpenLoopResult& open = *point.open_loop;
  const uint64_t kept_back = KeptBack(point);
  if (kept_back == 0 && open.slot_wait_max_ns == 0) return;
  std::string text = absl::StrFormat("all %d slots were taken at times (--max-outstanding)", point.load.slots);
  if (open.slot_wait_max_ns > 0) {
    absl::StrAppendFormat(&text, ": calls waited for one, %.1f µs on average, %.1f µs at most",
                          static_cast<double>(open.slot_wait_mean_ns) / 1e3,
                          static_cast<double>(open.slot_wait_max_ns) / 1e3);
  }
  if (point.counts.dropped > 0) {
    absl::StrAppendFormat(&text, ": %d of %d calls were dropped", point.counts.dropped, point.counts.due);
  }
  point.notes.push_back({kSlotsSaturated, std::move(text)});
}

void CheckSchedule(PointResult& point, const RunConfig& config) {
  if (!point.open_loop) return;
  CheckRate(point);
  CheckLateness(point);
  CheckShape(point, config.schedule.arrivals);
  CheckBacklog(point);
}

}  // namespace cqbench
