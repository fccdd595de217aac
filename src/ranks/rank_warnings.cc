#include "src/ranks/rank_warnings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/observe/checks/self_check.h"

namespace cqbench {
namespace {

constexpr double kSkewShare = 0.01;  // of the window
constexpr double kSkewNs = 10e6;     // what a rank that a scheduler's tick held up stays below
// Windows that end with a number of calls, or begin after one, do so in each rank at its own pace. What they lie apart
// is missing in the throughput at most: half of what a verdict acts on.
constexpr double kCountedShare = 0.05;
constexpr double kChance = 0.01;  // chance that a point gets a warning about a rank only because of when its calls came
constexpr double kStragglerShare = 0.20;  // off the median of throughput for each slot, or for each call asked for
constexpr size_t kNamed = 8;              // ranks in a sentence

std::optional<Nanos> TimeOf(const PointResult& point, WindowBoundary boundary) {
  if (!point.rank->timing) return std::nullopt;
  return boundary == WindowBoundary::kOpen ? point.rank->timing->window_open_ns : point.rank->timing->window_close_ns;
}

// A rank knows that it is awake when a call ends: with few calls that is later than the boundary, however punctual it
// was. Of calls that end by chance none has ended after g mean gaps exp(-g) times, at one of two boundaries of one
// rank.
double Bounded(const PointResult& point, WindowBoundary boundary, double gaps) {
  const RankTiming& timing = *point.rank->timing;
  const auto seen = static_cast<double>(*TimeOf(point, boundary));
  const auto announced =
      static_cast<double>(boundary == WindowBoundary::kOpen ? timing.announced_open_ns : timing.announced_close_ns);
  const double rate = point.ThroughputPerSecond();
  return rate > 0 ? std::max(announced, seen - gaps * 1e9 / rate) : seen;
}

std::vector<Notice> SkewOf(const RankPoints& points, WindowBoundary boundary, double window_ns, bool counted) {
  const double gaps = std::log(2 * static_cast<double>(points.size()) / kChance);
  std::optional<double> first_sure, last_sure;
  std::vector<int> last;
  Nanos latest = INT64_MIN;
  for (const PointResult* point : points) {
    const auto seen = TimeOf(*point, boundary);
    if (!seen) continue;
    const double sure = Bounded(*point, boundary, gaps);
    first_sure = std::min(first_sure.value_or(sure), sure);
    last_sure = std::max(last_sure.value_or(sure), sure);
    if (*seen > latest) last.clear();
    latest = std::max(latest, *seen);
    if (*seen == latest) last.push_back(point->rank->index);
  }
  if (!first_sure) return {};
  const double most = counted ? kCountedShare * window_ns : std::min(kSkewNs, kSkewShare * window_ns);
  if (*last_sure - *first_sure <= most) return {};
  const auto apart = static_cast<double>(Skew(points, boundary));
  std::string share;
  if (window_ns > 0) share = absl::StrFormat(", %.1f%% of it", 100 * (apart / window_ns));
  return {{kWindowSkew, absl::StrFormat("the ranks' windows %s up to %.3g ms apart%s: %s last",
                                        boundary == WindowBoundary::kOpen ? "opened" : "closed", apart / 1e6, share,
                                        RankNames(last))}};
}

// With two values, the faster: their mean moves with the slower one.
double UpperMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double AskedOf(const PointResult& point) {
  return point.load.open() ? point.load.rate : static_cast<double>(point.load.slots);
}

std::vector<Notice> StragglerWarnings(const RankPoints& points, const std::vector<std::string>& texts) {
  std::vector<int> late;
  std::string first;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    if (late.empty()) first = texts[i];
    late.push_back(points[i]->rank->index);
  }
  if (late.empty()) return {};
  const std::string whose = late.size() > 1 ? absl::StrCat(", of rank ", late.front()) : "";
  return {{kStraggler, absl::StrCat(RankNames(late), " far off the others", whose, ": ", first)}};
}

// With every number as one sign.
std::string Kind(const Notice& notice) {
  std::string kind = absl::StrCat(notice.code, ": ");
  bool number = false;
  for (const char c : notice.text) {
    const bool part = absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+' || c == '.';
    if (!part) kind.push_back(c);
    if (part && !number) kind.push_back('#');
    number = part;
  }
  return kind;
}

}  // namespace

std::string RankNames(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return absl::StrCat("rank ", ranks.front());
  const size_t shown = ranks.size() > kNamed ? kNamed : ranks.size() - 1;
  const std::string last =
      ranks.size() > kNamed ? absl::StrCat(ranks.size() - kNamed, " more") : absl::StrCat(ranks.back());
  const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(shown);
  return absl::StrCat("ranks ", absl::StrJoin(ranks.begin(), end, ", "), " and ", last);
}

Nanos Skew(const RankPoints& points, WindowBoundary boundary) {
  Nanos first = INT64_MAX, last = INT64_MIN;
  for (const PointResult* point : points) {
    const auto seen = TimeOf(*point, boundary);
    if (!seen) continue;
    first = std::min(first, *seen);
    last = std::max(last, *seen);
  }
  return last >= first ? last - first : 0;
}

// Chance alone moves a rank that expects c calls by 1 / sqrt(c), as Poisson's arrivals do, and the median with the
// others. How many such deviations are too many grows with the ranks: one of n is beyond z in at most n exp(-z^2 / 2)
// of points.
std::vector<std::string> Stragglers(const RankPoints& points) {
  std::vector<double> shares;
  for (const PointResult* point : points) shares.push_back(point->ThroughputPerSecond() / AskedOf(*point));
  const double middle = UpperMedian(shares);
  const auto number = static_cast<double>(points.size());
  const double chance = std::sqrt(2 * std::log(number / kChance) * number / std::max(number - 1, 1.0));
  std::vector<std::string> texts;
  for (size_t i = 0; i < points.size(); ++i) {
    const double expected = middle * AskedOf(*points[i]) * static_cast<double>(points[i]->window_ns) / 1e9;
    const double off = middle > 0 ? shares[i] / middle - 1 : 0.0;
    const bool known = expected > 0;
    texts.push_back(!known || std::abs(off) <= std::max(kStragglerShare, chance / std::sqrt(expected))
                        ? ""
                        : absl::StrFormat("its throughput for each %s is %.0f%% %s the ranks' median",
                                          points.front()->load.open() ? "call asked for" : "slot", 100 * std::abs(off),
                                          off < 0 ? "below" : "above"));
  }
  return texts;
}

std::vector<Notice> RankWarnings(const RankPoints& points, const std::vector<std::string>& stragglers,
                                 const PointResult& merged, const RanksResult& ranks,
                                 const CountedBoundaries& counted) {
  std::vector<Notice> warnings;
  const auto add = [&](const std::vector<Notice>& more) { warnings.insert(warnings.end(), more.begin(), more.end()); };
  if (!ranks.missing.empty()) {
    add({{kMissingRanks,
          absl::StrCat(RankNames(ranks.missing), " of ", ranks.count,
                       " measured nothing: neither what they did nor their share of the load is in these figures")}});
  }
  const auto window_ns = static_cast<double>(merged.window_ns);
  add(SkewOf(points, WindowBoundary::kOpen, window_ns, counted.open));
  add(SkewOf(points, WindowBoundary::kClose, window_ns, counted.close));
  add(StragglerWarnings(points, stragglers));
  auto other = OtherConnections(merged, "all ranks");
  if (!other) other = OtherCalls(merged);
  if (other) warnings.push_back(*other);
  std::vector<NoticesOfRank> own;
  for (const PointResult* point : points) own.emplace_back(point->rank->index, OwnWarnings(point->warnings));
  add(CollectNotices(own));
  return warnings;
}

std::vector<Notice> OwnWarnings(const std::vector<Notice>& notices) {
  std::vector<Notice> own = notices;
  std::erase_if(own, [](const Notice& notice) { return notice.code == kOtherClient; });
  return own;
}

std::vector<Notice> CollectNotices(const std::vector<NoticesOfRank>& notices) {
  struct Collected {
    std::string kind;
    Notice first;
    std::vector<int> ranks;
  };
  std::vector<Collected> all;
  for (const auto& [rank, list] : notices) {
    for (const Notice& notice : list) {
      const std::string kind = Kind(notice);
      const auto known = std::find_if(all.begin(), all.end(), [&](const Collected& c) { return c.kind == kind; });
      Collected& of = known != all.end() ? *known : all.emplace_back(Collected{kind, notice, {}});
      of.ranks.push_back(rank);
    }
  }
  std::vector<Notice> collected;
  for (const Collected& of : all) {
    const bool everyone = of.ranks.size() == notices.size() && notices.size() > 1;
    const std::string who = everyone ? absl::StrCat("all ", notices.size(), " ranks") : RankNames(of.ranks);
    collected.push_back({of.first.code, absl::StrCat(of.first.text, " (", who, ")")});
  }
  return collected;
}

}  // namespace cqbench
