// What to think of a point that several client processes measured: ranks that are missing, windows that do not lie over
// each other, one that is far off the others, and what each rank says of itself. The codes, bounds and words are those
// of scripts/cqbench/ranks/doubts.py, which says the same of the ranks' files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// Of the ranks that measured, by rank; each has PointResult::rank and at least one slot.
using RankPoints = std::vector<const PointResult*>;

// "rank 3", "ranks 0, 2 and 5", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more".
std::string RankNames(const std::vector<int>& ranks);

enum class WindowEdge { kOpen, kClose };
// Edges of the window that a number of calls decided (--total, --skip-first), in each rank by itself.
struct CountedEdges {
  bool open = false;
  bool close = false;
};
// Between the first and the last of the ranks that agreed on a window.
Nanos Skew(const RankPoints& points, WindowEdge edge);

// Of each rank why it is one; empty where it is not.
std::vector<std::string> Stragglers(const RankPoints& points);

// Of all ranks together: missing ones, skew, stragglers (as Stragglers() says), whether somebody else uses the server
// (by the merged point's figures), and what they say of themselves.
std::vector<Notice> DoubtRanks(const RankPoints& points, const std::vector<std::string>& stragglers,
                               const PointResult& merged, const RanksResult& ranks, const CountedEdges& counted);

// What a rank says of itself alone: that another client uses the server is not for it to say, it saw its partners.
std::vector<Notice> OwnFindings(const std::vector<Notice>& findings);

// Findings of several ranks, each kind once, with the ranks that have it: kinds are those of which code and text are
// the same but for figures.
using FindingsOfRank = std::pair<int, std::vector<Notice>>;
std::vector<Notice> CollectFindings(const std::vector<FindingsOfRank>& findings);

}  // namespace cqbench
