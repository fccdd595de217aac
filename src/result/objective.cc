#include "src/result/objective.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cqbench/run_config.h"
#include "src/config/units.h"

namespace cqbench {
namespace {

constexpr size_t kMaxTerms = 8;
constexpr double kMinSlower = 10;  // as LatencyStats::Knows()
constexpr absl::string_view kAccepted =
    "accepted are up to 8 terms such as p99<2ms, max<1s, errors<0.1%, separated by commas";

absl::Status Bad(absl::string_view term, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", term, "' ", why, "; ", kAccepted));
}

// Digits and a point only: SimpleAtod would also take "nan", "inf", signs and exponents.
bool ParsePlainNumber(absl::string_view text, double& value) {
  return !text.empty() && text.find_first_not_of("0123456789.") == absl::string_view::npos &&
         absl::SimpleAtod(text, &value);
}

// 0.1 and not 0.1000000000000000056: the shortest text that, divided by `divisor`, is the same number again. Empty
// where there is none: not every number is a hundredth of one.
std::string Shortest(double value, double divisor = 1) {
  constexpr int kMostDecimals = 341;  // 17 digits of the smallest number above 0
  for (int decimals = 0; decimals <= kMostDecimals; ++decimals) {
    std::string text = absl::StrFormat("%.*f", decimals, value * divisor);
    if (double back = 0; absl::SimpleAtod(text, &back) && back / divisor == value) return text;
  }
  return "";
}

// Percent, if that is exact.
std::string Share(double share) {
  const std::string percent = Shortest(share, 100);
  return percent.empty() ? Shortest(share) : absl::StrCat(percent, "%");
}

std::string Name(const Objective::Latency& latency) {
  return latency.percentile == 100 ? "max" : absl::StrCat("p", Shortest(latency.percentile));
}

std::string Percent(double share) {
  return absl::StrCat(absl::StrFormat("%.6g", share * 100), "%");
}

absl::Status ParseErrors(absl::string_view term, absl::string_view bound, Objective& objective) {
  if (objective.errors_below) return Bad(term, "is the second bound of errors");
  const bool percent = absl::ConsumeSuffix(&bound, "%");
  double value = 0;
  if (!ParsePlainNumber(bound, value) || value > (percent ? 100 : 1)) {
    return Bad(term, "has no share of 0% to 100% or 0 to 1");
  }
  objective.errors_below = percent ? value / 100 : value;
  return absl::OkStatus();
}

absl::Status ParseLatency(absl::string_view term, absl::string_view name, absl::string_view bound,
                          Objective& objective) {
  Objective::Latency latency{100, 0};
  if (name != "max" && (!absl::ConsumePrefix(&name, "p") || !ParsePlainNumber(name, latency.percentile) ||
                        latency.percentile <= 0 || latency.percentile > 100)) {
    return Bad(term, "begins with none of pN (N above 0, up to 100), max and errors");
  }
  if (bound.empty() || std::isalpha(static_cast<unsigned char>(bound.back())) == 0) {
    return Bad(term, "has no duration with a unit (ns, us, ms, s)");
  }
  const absl::StatusOr<Nanos> below = ParseDuration(bound);
  if (!below.ok()) return Bad(term, "has no duration above 0 and up to 24h with a unit (ns, us, ms, s)");
  latency.below_ns = *below;
  for (const Objective::Latency& other : objective.latencies) {
    if (other.percentile == latency.percentile) return Bad(term, "is the second bound of this percentile");
  }
  objective.latencies.push_back(latency);
  return absl::OkStatus();
}

absl::Status ParseTerm(absl::string_view term, Objective& objective) {
  const size_t less = term.find('<');
  if (less == absl::string_view::npos) return Bad(term, "has no '<'");
  const absl::string_view name = absl::StripAsciiWhitespace(term.substr(0, less));
  absl::string_view bound = term.substr(less + 1);
  absl::ConsumePrefix(&bound, "=");
  bound = absl::StripAsciiWhitespace(bound);
  return name == "errors" ? ParseErrors(term, bound, objective) : ParseLatency(term, name, bound, objective);
}

uint64_t AtMost(const Histogram& histogram, Nanos bound) {
  uint64_t count = 0;
  histogram.ForEach([&](Nanos value, uint64_t times) {
    if (std::min(value, histogram.Max()) <= bound) count += times;
  });
  return count;
}

// Calls that must be measured before ten are slower than the percentile.
uint64_t CallsNeeded(const Objective::Latency& latency) {
  if (latency.percentile == 100) return 1;
  const double exact = kMinSlower * 100 / (100 - latency.percentile);
  return static_cast<uint64_t>(std::ceil(exact - 1e-9 * exact));  // 100 - 99.9 is a little too much in binary
}

// Nearest rank, as Histogram::ValueAtPercentile().
uint64_t Rank(double percentile, uint64_t count) {
  const double exact = percentile / 100 * static_cast<double>(count);
  return std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(exact - 1e-9 * exact)), 1, count);
}

// Empty when it is met.
std::string Miss(const Objective::Latency& bound, const Measurement& measurement) {
  static const Histogram kNone;
  const Histogram& ended = measurement.latency;
  const Histogram& ages = measurement.at_least ? *measurement.at_least : kNone;
  const uint64_t count = ended.Count() + ages.Count();
  const std::string below = FormatDuration(bound.below_ns);
  if (count < CallsNeeded(bound)) {
    return absl::StrFormat("%s cannot be told from %d calls: it takes %d", Name(bound), count, CallsNeeded(bound));
  }
  const uint64_t rank = Rank(bound.percentile, count);
  const uint64_t ended_below = AtMost(ended, bound.below_ns);
  if (ended_below >= rank) return "";
  if (ended_below + AtMost(ages, bound.below_ns) >= rank) {
    return absl::StrFormat("%s could be above %s: %d calls did not end", Name(bound), below, ages.Count());
  }
  if (ages.Count() > 0)
    return absl::StrFormat("%s is above %s: %d calls did not end", Name(bound), below, ages.Count());
  return absl::StrFormat("%s is %s, above %s", Name(bound), FormatDuration(ended.ValueAtPercentile(bound.percentile)),
                         below);
}

std::string MissOfErrors(double bound, const CallCounts& counts) {
  if (counts.due == 0) return "errors cannot be told: no call was due";
  const uint64_t errors = counts.failed + counts.unfinished + counts.unsent + counts.dropped;
  const double share = static_cast<double>(errors) / static_cast<double>(counts.due);
  if (share <= bound) return "";
  return absl::StrFormat("errors are %s, above %s: %d of %d calls", Percent(share), Percent(bound), errors, counts.due);
}

}  // namespace

std::string Objective::ToString() const {
  std::vector<std::string> terms;
  for (const Latency& latency : latencies) {
    terms.push_back(absl::StrCat(Name(latency), "<", FormatDuration(latency.below_ns)));
  }
  if (errors_below) terms.push_back(absl::StrCat("errors<", Share(*errors_below)));
  return absl::StrJoin(terms, ",");
}

absl::StatusOr<Objective> ParseObjective(absl::string_view text) {
  const std::vector<absl::string_view> terms = absl::StrSplit(text, ',');
  if (terms.size() > kMaxTerms) return Bad(text, "has too many terms");
  Objective objective;
  for (absl::string_view term : terms) {
    if (absl::Status status = ParseTerm(absl::StripAsciiWhitespace(term), objective); !status.ok()) return status;
  }
  return objective;
}

uint64_t CallsNeeded(const Objective& objective) {
  uint64_t calls = 1;
  for (const Objective::Latency& latency : objective.latencies) calls = std::max(calls, CallsNeeded(latency));
  return calls;
}

std::vector<std::string> Misses(const Objective& objective, const Measurement& measurement) {
  std::vector<std::string> misses;
  for (const Objective::Latency& latency : objective.latencies) {
    if (std::string miss = Miss(latency, measurement); !miss.empty()) misses.push_back(std::move(miss));
  }
  if (objective.errors_below) {
    std::string miss = MissOfErrors(*objective.errors_below, measurement.counts);
    if (!miss.empty()) misses.push_back(std::move(miss));
  }
  return misses;
}

}  // namespace cqbench
