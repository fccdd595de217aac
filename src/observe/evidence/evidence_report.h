// Figures from the samples of a point: plain data in, plain data out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cqbench/channel_policy.h"
#include "cqbench/measurement.h"
#include "cqbench/result.h"
#include "cqbench/run_config.h"
#include "src/observe/evidence/timing_cost.h"
#include "src/observe/sampling/sample.h"
#include "src/stats/histogram.h"

namespace cqbench {

// One process, sampled at both window boundaries.
struct ProcessSamples {
  Sample begin;
  Sample end;
  Nanos before_ns = 0;           // how long before the window opened the first was taken; below 0: after
  Nanos after_ns = 0;            // how long after it closed the second was
  AllocationCounts not_counted;  // of the process's own, between the samples: for asking it
  std::string boot_id;           // the same for the processes of one machine; servers only
};

struct PointSamples {
  ProcessSamples client;
  std::vector<ProcessSamples> servers;
  std::optional<ProcessSamples> server_process;   // --server-pid
  std::string servers_absent;                     // why there are none; empty when nobody was to be asked
  std::optional<Histogram> handling;              // of all servers
  std::optional<Histogram> finishing;             // of all servers
  std::optional<Histogram> parsing, serializing;  // of all servers that do it by themselves
};

void MergeInto(std::optional<Histogram>& total, const Histogram& more);

struct EvidenceContext {
  const RunConfig& config;
  const ChannelPlan& plan;
  bool counting = false;  // the pass in which both ends count allocations: nothing else of it is reported
  TimingCost cost;        // of --breakdown
};

// Adds figures, facts and notes to `point`, which has its completions and its window already.
void ReportEvidence(const EvidenceContext& context, const PointSamples& samples, const Measurement& measurement,
                    PointResult& point);

}  // namespace cqbench
