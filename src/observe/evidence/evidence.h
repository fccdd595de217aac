// The samples of one point, taken just outside its window, on both ends.
#pragma once

#include <future>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "cqbench/recorder.h"
#include "cqbench/run_config.h"
#include "src/observe/control/control_client.h"
#include "src/observe/evidence/evidence_report.h"
#include "src/observe/sampling/connections.h"

namespace cqbench {

// The runner's thread calls the functions in this order. None is on the path of an RPC: threads that make calls are
// neither stopped nor asked.
class PointEvidence {
 public:
  // `servers` is nullptr when they are not to be asked. `counting` makes both ends count allocations in the window.
  // `window` may be set later, but before End().
  PointEvidence(const RunConfig& config, const ChannelPlan& plan, const RunWindow& window, ControlClients* servers,
                bool counting)
      : config_(config), plan_(plan), window_(window), servers_(servers), counting_(counting) {}

  // Before the first call: samples once for practice, so that it is known how long that takes, and what a control call
  // allocates by itself. Blocks for about as long as Lead() is afterwards; for two seconds when a server does not
  // answer.
  void Rehearse(const std::optional<std::vector<OpenConnection>>& connections);
  // Returns the time before the window at which Begin() must be called for the samples to be done when it opens.
  Nanos Lead() const { return lead_; }
  // Takes the connections that carry the measured calls, before Begin(). Absent: they could not be read.
  void Find(const std::optional<std::vector<OpenConnection>>& connections);
  // Before the window opens. Waits for the servers' samples only when allocations are counted.
  // `completed`: calls so far; asked, as in End(), at the moment that counting is switched.
  using Completed = absl::FunctionRef<uint64_t()>;
  void Begin(Completed completed);
  // After the window has closed; where allocations are counted, in the midst of it.
  void End(Completed completed);
  // Adds figures, facts and notes. `point` has its completions and its window already. `cost` counts with --breakdown
  // only.
  void Report(const Measurement& measurement, const TimingCost& cost, PointResult& point);

 private:
  using Moments = ControlClients::Moments;
  Sample SampleHere() const;
  std::optional<ServerSwitches> Switches(bool on) const;
  void RehearseServers();
  void CollectClient();
  void CollectServers();
  void CollectServerProcess();

  const RunConfig& config_;
  const ChannelPlan& plan_;
  const RunWindow& window_;
  ControlClients* const servers_;
  const bool counting_;
  Nanos lead_ = 0;
  std::vector<OpenConnection> connections_;
  std::optional<Sample> begin_;
  std::optional<Sample> end_;
  std::optional<Sample> server_begin_;  // --server-pid
  std::optional<Sample> server_end_;
  std::future<Moments> servers_begin_;
  std::future<Moments> servers_end_;
  std::vector<AllocationCounts> control_allocations_;  // of each server, for a control call
  PointSamples samples_;
};

}  // namespace cqbench
