#include "src/report/load_table.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/report/text_table.h"

namespace cqbench {
namespace {

std::string Micros(Nanos ns) {
  return absl::StrFormat("%.1f", static_cast<double>(ns) / static_cast<double>(kNanosPerMicro));
}

std::string Rate(double per_second) {
  return per_second < 100 ? absl::StrFormat("%.3g", per_second) : absl::StrFormat("%.0f", per_second);
}

// All trials of one rate.
struct Tried {
  int trials = 0;
  int met = 0;
  int client_fault = 0;
  std::string why;  // of the first that says why not
};

}  // namespace

std::string LoadTitle(const RunContext& context) {
  return context.open_loop() ? "Rate (req/s)" : "In-flight";
}

std::string LoadCell(const Load& load) {
  const std::string key = load.Key();
  return key.substr(key.find(':') + 1);
}

std::string FormatPacing(const RunContext& context, const std::vector<PointResult>& rows) {
  std::vector<Row> table = {{LoadTitle(context), "Due", "Sent", "Dropped", "Unsent", "Late P50", "P99", "P100",
                             "Slot wait mean", "P99", "P100", "Burst", "Slots", "Pacers", "Margin", "Hash"}};
  for (const PointResult& p : rows) {
    if (!p.open_loop) continue;
    const OpenLoopResult& o = *p.open_loop;
    table.push_back({LoadCell(p.load), absl::StrCat(p.counts.due), absl::StrCat(p.counts.sent),
                     absl::StrCat(p.counts.dropped), absl::StrCat(p.counts.unsent), Micros(o.lateness_p50_ns),
                     Micros(o.lateness_p99_ns), Micros(o.lateness_max_ns), Micros(o.slot_wait_mean_ns),
                     Micros(o.slot_wait_p99_ns), Micros(o.slot_wait_max_ns), absl::StrCat(o.largest_burst),
                     absl::StrCat(p.load.slots), absl::StrCat(o.pacers), Micros(o.margin_ns),
                     o.schedule_hash == 0 ? "-" : absl::StrCat(absl::Hex(o.schedule_hash, absl::kZeroPad16))});
  }
  if (table.size() == 1) return "";
  const ScheduleConfig& schedule = context.run.schedule;
  return absl::StrCat("\nSchedule: ", ToString(schedule.arrivals), " arrivals, seed ", schedule.seed, ", pace ",
                      ToString(schedule.pace), ", at the limit: ", ToString(schedule.at_limit), "; times in µs",
                      context.repetitions > 1 ? ", counts of all repetitions" : "", "\n", AlignTable(table));
}

std::string FormatFindRate(const FindRateResult& found) {
  std::string text = absl::StrCat("\nHighest rate with ", found.objective, ": ");
  if (found.resolved) {
    absl::StrAppend(&text, Rate(found.rate), "/s, 95 % interval ", Rate(found.low), " to ", Rate(found.high), "/s\n");
  } else {
    absl::StrAppend(&text, "unresolved: ", found.unresolved_reason, "\n");
  }
  std::map<double, Tried> by_rate;
  for (const RateTrial& trial : found.trials) {
    Tried& tried = by_rate[trial.rate];
    ++tried.trials;
    tried.met += trial.met && !trial.client_fault ? 1 : 0;
    tried.client_fault += trial.client_fault ? 1 : 0;
    if (tried.why.empty()) tried.why = trial.why;
  }
  if (by_rate.empty()) return text;
  std::vector<Row> table = {{"Rate (req/s)", "Trials", "Met", "Client at fault", "First reason"}};
  for (const auto& [rate, tried] : by_rate) {
    table.push_back(
        {Rate(rate), absl::StrCat(tried.trials), absl::StrCat(tried.met), absl::StrCat(tried.client_fault), tried.why});
  }
  return absl::StrCat(text, AlignTable(table));
}

}  // namespace cqbench
