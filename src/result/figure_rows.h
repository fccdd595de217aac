// The rows of the catalogue as they are written down.
#pragma once

#include <array>
#include <vector>

#include "src/result/figure_catalogue.h"

namespace cqbench {

// The unit in results, the unit for people, and the factor from the one to the other.
struct Measure {
  FigureKind kind;
  const char* unit;
  const char* shown_unit;
  double scale;
};

// Rows that stand for three figures each.
enum class Parts {
  kNone,
  kDistribution,  // NAME_min, NAME_median, NAME_max over connections or queues
  kTimes,         // NAME_samples, NAME_p50_ns, NAME_p99_ns
};

struct Merge {
  constexpr Merge(MergeRule of) : rule(of) {}  // NOLINT(google-explicit-constructor): rows are lists of values
  constexpr Merge(const char* over, const char* under)
      : rule(MergeRule::kQuotient), numerator(over), denominator(under) {}
  MergeRule rule;
  const char* numerator = "";  // with the client's figures, as Quotient has it
  const char* denominator = "";
};

struct FigureRow {
  // The client's and the server's, or that of a figure that only one end has, or that describes calls. nullptr: none.
  std::array<const char*, 2> names;
  Measure measure;
  Better better;
  Merge merge;
  Needs needs;
  const char* title;        // without the side
  const char* description;  // without "Absent ..."
  Parts parts = Parts::kNone;
};

const std::vector<FigureRow>& FigureRows();

}  // namespace cqbench
