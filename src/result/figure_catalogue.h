// The catalogue of figures: every named number that a point may have, once.
//
// The schema of results, the reference page and the list that Python reads are made from it (cqbench_schema). A new
// figure is a row in figure_rows.cc and a call of Figures::Set() where it is made.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cqbench {

// The end of the connections that a figure describes. kBoth: the figure is about the calls, not about one process.
enum class Side { kBoth, kClient, kServer };
absl::string_view ToString(Side side);  // "", "client", "server"

// The values that a figure can have, by their names in the schema.
enum class FigureKind { kCount, kPositiveCount, kAmount, kNanoseconds, kOffset, kShare, kRatio, kCorrelation };
absl::string_view ToString(FigureKind kind);  // "positive_count"

enum class Better { kNeither, kMore, kLess };
absl::string_view ToString(Better better);  // "neither", "more", "less"

// How the figures of several client processes become one. Figures of the server come from the one process that asked
// it; those per call, and calls per something, are divided by the calls of all processes.
enum class MergeRule {
  kNone,      // the processes' figures do not determine it: absent
  kSum,       // sum
  kMin,       // minimum
  kMax,       // maximum
  kMedian,    // median over the connections of all processes
  kQuotient,  // sum of the processes' numerators / sum of their denominators
};
absl::string_view ToString(MergeRule rule);  // "quotient"

// The two sides of a quotient: "calls" (completed calls), a figure, or figures with " + " between them. A side is empty
// if no figure has it: then it follows from the other side and the quotient, for each process.
struct Quotient {
  std::string numerator;
  std::string denominator;
};
inline constexpr absl::string_view kQuotientCalls = "calls";

// Conditions under which a point has the figure.
enum class Needs {
  kNothing,
  kOpenLoop,
  kEvidence,     // not --no-evidence, and for the server a control service
  kWorkers,      // evidence, and threads of our own
  kTcp,          // evidence, and TCP connections
  kConnections,  // evidence, and exactly the connections that the channel policy promises
  kQueues,       // evidence, and a server with completion queues of its own
  kGrpc,         // calls by gRPC, not by HTTP
  kChunks,       // a method that streams chunks
  kBreakdown,    // --breakdown
  kCounting,     // a program that counts allocations
};
absl::string_view ToString(Needs needs);       // "open_loop"
absl::string_view AbsentWithout(Needs needs);  // "Absent in a closed loop."; empty for kNothing

struct Figure {
  std::string name;  // in results: "client_cores_used"
  Side side = Side::kBoth;
  FigureKind kind = FigureKind::kAmount;
  std::string unit;        // in results: "ns"; empty for counts and fractions
  std::string shown_unit;  // for people: "µs"
  double scale = 1;        // from the unit in results to the one for people
  Better better = Better::kNeither;
  MergeRule merge = MergeRule::kNone;
  Quotient quotient;  // kQuotient
  Needs needs = Needs::kNothing;
  std::string title;        // "client cores used"
  std::string description;  // one sentence or two, with when it is absent
};

// In the order of the catalogue: calls, schedule, client and server, streams, breakdown.
const std::vector<Figure>& FigureCatalogue();
// nullptr when there is no such figure. Debug builds check that every figure in a result has a row (json_point.cc).
const Figure* FindFigure(absl::string_view name);
// The name of a figure that both ends have, for one end: NameOf(Side::kServer, "client_cores_used") is
// "server_cores_used". The figure is given by the client's name, so that a search for a name finds where it is made.
absl::string_view NameOf(Side side, absl::string_view client_name);

}  // namespace cqbench
