// Evidence of several clients as that of one, by the rules of scripts/cqbench/ranks/figures.py.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// What is a sum is added, what is an extreme stays one, what is a quotient is made again from its parts; the server's
// figures are those of the one rank that asked it, per call divided by the calls of all. Sums are those of the numbers
// that the ranks' files have. What cannot be made is absent: medians over connections, percentiles of parts of calls.
// There is at least one point; `merged` has the calls of all.
Figures MergeFigures(const std::vector<const PointResult*>& points, const PointResult& merged);

// As result files have a figure: fractions of large ones say nothing.
double RoundedFigure(double value);

}  // namespace cqbench
