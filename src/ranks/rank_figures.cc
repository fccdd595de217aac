#include "src/ranks/rank_figures.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/observe/sampling/sample_figures.h"
#include "src/result/figure_catalogue.h"

namespace cqbench {
namespace {

class FigureMerger {
 public:
  FigureMerger(const std::vector<const PointResult*>& points, const PointResult& merged)
      : points_(points), completed_(static_cast<double>(merged.completed)) {}

  Figures Merge() {
    for (const PointResult* point : points_) {
      for (const auto& [name, value] : point->figures) {
        if (!found_.Get(name)) Combine(name);
      }
    }
    TakeServer();
    return found_;
  }

 private:
  static std::optional<double> Of(const PointResult& point, absl::string_view name) {
    const auto value = point.figures.Get(name);
    return value ? std::optional<double>(RoundedFigure(*value)) : std::nullopt;
  }
  bool All(absl::string_view name) const {
    return std::all_of(points_.begin(), points_.end(), [&](const PointResult* p) { return Of(*p, name).has_value(); });
  }
  void Set(absl::string_view name, double value) { found_.Set(name, RoundedFigure(value)); }

  // The value of one rank alone would be wrong.
  void Combine(absl::string_view name) {
    const Figure* const figure = FindFigure(name);
    if (figure == nullptr || figure->side == Side::kServer) return;
    const MergeRule rule = figure->merge;
    if (rule == MergeRule::kQuotient) return MakeQuotient(*figure);
    if (rule == MergeRule::kMedian) return TakeMedian(absl::StripSuffix(name, "_median"), std::string(name));
    const bool combines = rule == MergeRule::kSum || rule == MergeRule::kMin || rule == MergeRule::kMax;
    if (!combines || !All(name)) return;
    double combined = *Of(*points_.front(), name);
    for (size_t i = 1; i < points_.size(); ++i) {
      const double value = *Of(*points_[i], name);
      combined = rule == MergeRule::kSum   ? combined + value
                 : rule == MergeRule::kMin ? std::min(combined, value)
                                           : std::max(combined, value);
    }
    Set(name, combined);
  }

  // Over the connections of all ranks.
  void TakeMedian(absl::string_view base, const std::string& name) {
    std::vector<double> values;
    for (const PointResult* point : points_) {
      const std::vector<double> each = point->figures.OfConnections(name);
      if (each.empty()) return;
      values.insert(values.end(), each.begin(), each.end());
    }
    SetDistribution(base, std::move(values), found_);
  }

  // Sums over processes of what a quotient divides by what.
  struct Sums {
    double numerator = 0, denominator = 0;
  };
  // A side of one process's quotient; absent if the process lacks a figure of it.
  static std::optional<double> SideOf(const PointResult& point, const std::string& names, double calls) {
    if (names == kQuotientCalls) return calls;
    double sum = 0;
    for (const absl::string_view name : absl::StrSplit(names, " + ")) {
      const auto value = Of(point, name);
      if (!value) return std::nullopt;
      sum += *value;
    }
    return sum;
  }
  // Adds a process that completed `calls`. False: the process lacks a figure, so that the sums are not known.
  static bool Add(const PointResult& point, const Figure& figure, double calls, Sums& sums) {
    const auto value = Of(point, figure.name);
    const auto numerator = SideOf(point, figure.quotient.numerator, calls);
    auto denominator = SideOf(point, figure.quotient.denominator, calls);
    if (!numerator && !figure.quotient.numerator.empty()) return false;
    if (!denominator && !figure.quotient.denominator.empty()) return false;
    if (!denominator) {
      if (value.value_or(0) == 0) return false;
      denominator = *numerator / *value;
    } else if (!value && *denominator > 0) {
      return false;
    }
    sums.numerator += numerator ? *numerator : value.value_or(0) * *denominator;
    sums.denominator += *denominator;
    return true;
  }

  void MakeQuotient(const Figure& figure) {
    Sums sums;
    for (const PointResult* point : points_) {
      if (!Add(*point, figure, static_cast<double>(point->completed), sums)) return;
    }
    if (sums.denominator > 0) Set(figure.name, sums.numerator / sums.denominator);
  }

  void TakeServer() {
    const auto is_servers = [](const Figures::Entry& figure) { return absl::StartsWith(figure.first, "server_"); };
    const auto asked = std::find_if(points_.begin(), points_.end(), [&](const PointResult* p) {
      return std::any_of(p->figures.begin(), p->figures.end(), is_servers);
    });
    if (asked == points_.end()) return;
    const PointResult& point = **asked;
    const double spent = Of(point, "server_cpu_user_ns").value_or(0) + Of(point, "server_cpu_system_ns").value_or(0);
    const double each = Of(point, "server_cpu_per_rpc_ns").value_or(0);
    const double calls = each > 0 ? spent / each : static_cast<double>(point.completed);  // that it divided by
    for (const auto& [name, value] : point.figures) {
      if (absl::StartsWith(name, "server_") || absl::StartsWith(name, "breakdown_server_")) {
        TakeOne(point, name, RoundedFigure(value), calls);
      }
    }
  }

  // The process that asked the server divided by its own calls, or its own calls by something.
  void TakeOne(const PointResult& point, const std::string& name, double value, double calls) {
    const Figure* const figure = FindFigure(name);
    const bool per_call = figure != nullptr && figure->quotient.denominator == kQuotientCalls;
    const bool calls_per = figure != nullptr && figure->quotient.numerator == kQuotientCalls;
    if (!per_call && !calls_per) return Set(name, value);
    Sums sums;
    if (completed_ == 0 || calls == 0 || !Add(point, *figure, calls, sums)) return;
    Set(name, per_call ? sums.numerator / completed_ : completed_ / sums.denominator);
  }

  const std::vector<const PointResult*>& points_;
  const double completed_;
  Figures found_;
};

}  // namespace

Figures MergeFigures(const std::vector<const PointResult*>& points, const PointResult& merged) {
  return FigureMerger(points, merged).Merge();
}

double RoundedFigure(double value) {
  return std::abs(value) >= 1000 || value == std::floor(value) ? std::round(value) : value;
}

}  // namespace cqbench
