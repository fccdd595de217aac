// The part of each client process in a point that several measured. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "src/config/load.h"
#include "src/result/notice.h"

namespace cqbench {

// The times at which one of several clients measured a point, by the clock that all of them report in.
struct RankTiming {
  Nanos offset_ns = 0;  // to be added to this process's clock
  Nanos offset_bound_ns = 0;
  std::optional<double> drift_ns_per_s;  // absent where nothing could tell
  Nanos announced_open_ns = 0;
  Nanos announced_close_ns = 0;
  // The times at which the window opened and closed for this process. Calls are counted by their own times, so it does
  // at the very nanosecond of this process's clock, whoever is awake then, unless the process was not there: it was
  // awake at last more than kHeldUp before it was again, and between the two it measured nothing.
  Nanos window_open_ns = 0;
  Nanos window_close_ns = 0;
  // The first time after that at which a thread was seen awake.
  Nanos awake_open_ns = 0;
  Nanos awake_close_ns = 0;
};

// Which of several client processes measured a point, and when.
struct RankResult {
  int index = 0;  // from 0
  int count = 1;
  std::string host;
  int pid = 0;
  std::string cpus_allowed;  // "0-3,8"
  // Absent when no window was agreed on.
  std::optional<RankTiming> timing;
};

// The ranks of a merged point; the point itself has their sum.
struct RanksResult {
  struct Row {
    RankResult rank;
    Load load;  // its share
    double throughput_per_second = 0;
    uint64_t completed = 0;
    uint64_t failed = 0;
    std::optional<Nanos> p99_ns;
    std::optional<double> cores_used;
    std::optional<double> cpu_per_rpc_ns;
    std::optional<int> connections;
    std::vector<Notice> warnings;
    std::vector<Notice> notes;
    bool partial = false;
  };
  int count = 0;             // that were to measure
  std::vector<int> missing;  // those of them that did not
  Nanos window_ns = 0;
  Nanos skew_open_ns = 0;  // between the first and the last rank
  Nanos skew_close_ns = 0;
  std::vector<Row> rows;  // of the others, by rank
};

}  // namespace cqbench
