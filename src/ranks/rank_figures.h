// Evidence of several clients as that of one, by the rules of the figure catalogue.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// Adds sums, keeps extremes, and makes quotients again from their parts. The server's figures are those of the one rank
// that sampled it, divided by the calls of all. Sums are those of the numbers in the ranks' files. Figures that cannot
// be made are absent: medians over connections, percentiles of parts of calls. There is at least one point; `merged`
// has the calls of all.
Figures MergeFigures(const std::vector<const PointResult*>& points, const PointResult& merged);

// As result files have a figure: fractions of large ones say nothing.
double RoundedFigure(double value);

}  // namespace cqbench
