// Warnings about a point that several client processes measured: missing ranks, windows that do not overlap fully, a
// rank that is far from the others, and each rank's own warnings.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// The points of the ranks that measured, by rank; each has PointResult::rank and at least one slot.
using RankPoints = std::vector<const PointResult*>;

// "rank 3", "ranks 0, 2 and 5", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more".
std::string RankNames(const std::vector<int>& ranks);

enum class WindowBoundary { kOpen, kClose };
// Boundaries of the window that a number of calls decided (--total, --skip-first), in each rank by itself.
struct CountedBoundaries {
  bool open = false;
  bool close = false;
};
// Between the first and the last of the ranks that agreed on a window.
Nanos Skew(const RankPoints& points, WindowBoundary boundary);

// Returns for each rank why it is a straggler; empty if it is not.
std::vector<std::string> Stragglers(const RankPoints& points);

// Warnings about all ranks together: missing ranks, skew, stragglers (see Stragglers()), other clients of the server
// (by the merged point's figures), and the ranks' own warnings.
std::vector<Notice> RankWarnings(const RankPoints& points, const std::vector<std::string>& stragglers,
                                 const PointResult& merged, const RanksResult& ranks, const CountedBoundaries& counted);

// Returns a rank's own warnings without other-client: the connections that it saw may be those of its partners.
std::vector<Notice> OwnWarnings(const std::vector<Notice>& notices);

// Notices of several ranks, each kind once, with the ranks that have it: kinds are those of which code and text are
// the same but for figures.
using NoticesOfRank = std::pair<int, std::vector<Notice>>;
std::vector<Notice> CollectNotices(const std::vector<NoticesOfRank>& notices);

}  // namespace cqbench
