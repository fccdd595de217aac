// The rows of a table: what the repetitions of one load say together.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cqbench/result.h"

namespace cqbench {
namespace {

using Runs = std::vector<const PointResult*>;

template <typename T>
T Median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : static_cast<T>((values[n / 2 - 1] + values[n / 2]) / 2);
}

// `get` gives what is described of one run: a pointer to it, or nullptr.
template <typename T, typename Get>
auto MedianField(const std::vector<const PointResult*>& runs, const Get& get, T field) {
  std::vector<std::decay_t<decltype((*get(*runs.front())).*field)>> values;
  for (const PointResult* run : runs) {
    if (const auto* part = get(*run)) values.push_back(part->*field);
  }
  return Median(std::move(values));
}

// The median of each percentile. One that a call without an end could change in the median is set so that Knows() says
// no: with an even number of runs, that is when the greater of the middle two reaches the least age.
template <typename Get>
void TakeLatencyMedians(LatencyStats& stats, const Runs& runs, const Get& get) {
  stats.at_least = 0;
  stats.least_age_ns.reset();
  for (const PointResult* run : runs) {
    const LatencyStats* other = get(*run);
    if (other == nullptr || other->at_least == 0) continue;
    stats.at_least += other->at_least;
    stats.least_age_ns = std::min(stats.least_age_ns.value_or(INT64_MAX), other->least_age_ns.value_or(0));
  }
  stats.count = MedianField(runs, get, &LatencyStats::count);
  for (double LatencyStats::*field : {&LatencyStats::mean_ns, &LatencyStats::stddev_ns}) {
    stats.*field = MedianField(runs, get, field);
  }
  for (Nanos LatencyStats::*field :
       {&LatencyStats::min_ns, &LatencyStats::p50_ns, &LatencyStats::p90_ns, &LatencyStats::p95_ns,
        &LatencyStats::p99_ns, &LatencyStats::p999_ns, &LatencyStats::max_ns}) {
    std::vector<Nanos> values;
    for (const PointResult* run : runs) {
      if (const LatencyStats* other = get(*run)) values.push_back(other->*field);
    }
    std::sort(values.begin(), values.end());
    const Nanos upper = values[values.size() / 2];
    stats.*field = stats.least_age_ns && upper >= *stats.least_age_ns ? upper : Median(std::move(values));
  }
}

template <typename T>
void TakeOptionalMedian(std::optional<T>& value, const Runs& runs, std::optional<T> OpenLoopResult::*field) {
  std::vector<T> values;
  for (const PointResult* run : runs) {
    if (run->open_loop && (*run->open_loop).*field) values.push_back(*((*run->open_loop).*field));
  }
  value = values.empty() ? std::nullopt : std::optional<T>(Median(std::move(values)));
}

void TakeOpenLoopMedians(OpenLoopResult& open, const Runs& runs) {
  const auto of_open = [](const PointResult& p) { return p.open_loop ? &*p.open_loop : nullptr; };
  for (Nanos OpenLoopResult::*field :
       {&OpenLoopResult::lateness_p50_ns, &OpenLoopResult::lateness_p99_ns, &OpenLoopResult::lateness_max_ns,
        &OpenLoopResult::slot_wait_p99_ns, &OpenLoopResult::slot_wait_max_ns, &OpenLoopResult::margin_ns}) {
    open.*field = MedianField(runs, of_open, field);
  }
  for (double OpenLoopResult::*field :
       {&OpenLoopResult::outstanding_first_half, &OpenLoopResult::outstanding_second_half}) {
    open.*field = MedianField(runs, of_open, field);
  }
  open.largest_burst = MedianField(runs, of_open, &OpenLoopResult::largest_burst);
  open.slot_wait_mean_ns = MedianField(runs, of_open, &OpenLoopResult::slot_wait_mean_ns);
  TakeOptionalMedian(open.gap_cv, runs, &OpenLoopResult::gap_cv);
  TakeOptionalMedian(open.gap_correlation, runs, &OpenLoopResult::gap_correlation);
  for (const PointResult* run : runs) {
    // No one schedule, no one hash.
    if (run->open_loop && run->open_loop->schedule_hash != open.schedule_hash) open.schedule_hash = 0;
  }
  const auto sent = [](const PointResult& p) -> const LatencyStats* {
    return p.open_loop && p.open_loop->from_sent ? &*p.open_loop->from_sent : nullptr;
  };
  if (open.from_sent) TakeLatencyMedians(*open.from_sent, runs, sent);
}

// The median of each figure is over the runs that have it.
Figures MedianFigures(const Runs& runs) {
  Figures medians;
  for (const PointResult* run : runs) {
    for (const auto& [name, value] : run->figures) {
      if (medians.Get(name)) continue;
      std::vector<double> values;
      for (const PointResult* other : runs) {
        if (const auto figure = other->figures.Get(name)) values.push_back(*figure);
      }
      medians.Set(name, Median(std::move(values)));
    }
  }
  return medians;
}

void MergeErrors(std::vector<ErrorCount>& into, const std::vector<ErrorCount>& from) {
  for (const ErrorCount& error : from) {
    auto same = std::find_if(into.begin(), into.end(), [&](const ErrorCount& e) { return e.code == error.code; });
    if (same == into.end()) {
      into.push_back(error);
    } else {
      same->count += error.count;
    }
  }
}

// Notices that differ in their numbers only are one, in the words of the first, with the number of repetitions that
// gave it unless all did. The code alone does not identify a notice: "steal" is about either end.
std::vector<Notice> MergeNotices(const Runs& runs, std::vector<Notice> PointResult::*list) {
  std::vector<std::string> kinds;
  std::vector<Notice> notices;
  std::vector<size_t> times;
  for (const PointResult* run : runs) {
    for (const Notice& notice : run->*list) {
      std::string kind = absl::StrCat(notice.code, "/", notice.text);
      std::erase_if(kind, [](char c) {
        return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
      });
      const auto same = static_cast<size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
      if (same == kinds.size()) {
        kinds.push_back(kind);
        notices.push_back(notice);
        times.push_back(0);
      }
      ++times[same];
    }
  }
  for (size_t i = 0; i < notices.size(); ++i) {
    if (times[i] == runs.size()) continue;
    absl::StrAppend(&notices[i].text, " (in ", times[i], " of ", runs.size(), " repetitions)");
  }
  return notices;
}

// The runs behind the medians: they measured something, and were not cut short unless all were.
Runs Measured(const Runs& all) {
  Runs whole, cut;
  for (const PointResult* run : all) {
    if (run->failure.empty() && run->latency) (run->partial ? cut : whole).push_back(run);
  }
  return whole.empty() ? cut : whole;
}

// Adds up or collects counts, errors and notices over all repetitions.
void TakeTotals(PointResult& row, const Runs& all) {
  row.errors.clear();
  row.counts = CallCounts();
  row.objective_met = true;
  for (const PointResult* run : all) {
    MergeErrors(row.errors, run->errors);
    row.counts.Merge(run->counts);
    row.objective_met = row.objective_met && run->objective_met;
  }
  row.warnings = MergeNotices(all, &PointResult::warnings);
  row.notes = MergeNotices(all, &PointResult::notes);
  std::stable_sort(row.errors.begin(), row.errors.end(),
                   [](const ErrorCount& a, const ErrorCount& b) { return a.count > b.count; });
}

PointResult MedianOf(const Runs& all) {
  const Runs measured = Measured(all);
  PointResult row = measured.empty() ? *all.front() : *measured.front();
  TakeTotals(row, all);
  for (const PointResult* run : all) {
    if (measured.empty() || run->failure.empty()) continue;
    row.warnings.push_back(
        {kMissingRepetitions, absl::StrCat("repetition ", run->repetition, " is missing: ", run->failure)});
  }
  if (measured.size() < 2) return row;
  const auto self = [](const PointResult& p) { return &p; };
  row.completed = MedianField(measured, self, &PointResult::completed);
  row.window_ns = MedianField(measured, self, &PointResult::window_ns);
  TakeLatencyMedians(*row.latency, measured, [](const PointResult& p) { return p.latency ? &*p.latency : nullptr; });
  if (row.open_loop) TakeOpenLoopMedians(*row.open_loop, measured);
  row.figures = MedianFigures(measured);
  return row;
}

}  // namespace

std::vector<PointResult> MedianOverRepetitions(const std::vector<PointResult>& points) {
  std::vector<Runs> by_load;  // in the order of the sweep
  for (const PointResult& point : points) {
    auto same = std::find_if(by_load.begin(), by_load.end(),
                             [&](const Runs& runs) { return runs.front()->load == point.load; });
    if (same == by_load.end()) same = by_load.insert(by_load.end(), Runs());
    same->push_back(&point);
  }
  std::vector<PointResult> rows;
  for (const Runs& runs : by_load) rows.push_back(MedianOf(runs));
  return rows;
}

}  // namespace cqbench
