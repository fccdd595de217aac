// The samples of one point, at the edges of its window, on both ends.
#pragma once

#include <future>
#include <optional>
#include <vector>

#include "cqbench/channel_policy.h"
#include "cqbench/connections.h"
#include "cqbench/probe.h"
#include "cqbench/recorder.h"
#include "cqbench/result.h"
#include "cqbench/sample.h"
#include "src/client/control_client.h"

namespace cqbench {

// All calls from the runner's thread, in this order. Nothing of it is on the path of an RPC: workers are neither
// stopped nor asked.
class PointEvidence {
 public:
  // `servers` is nullptr when they are not to be asked. `counting` makes both ends count allocations in the window.
  PointEvidence(const RunConfig& config, const ChannelPlan& plan, ControlClients* servers, bool counting)
      : config_(config), plan_(plan), servers_(servers), counting_(counting) {}

  // Those that carry the measured calls, before Begin(). Absent: they could not be read.
  void Find(const std::optional<std::vector<OpenConnection>>& connections);
  void Begin();
  void End();
  // Adds figures, facts and notes. `point` has its completions and its window already.
  void Report(const Recorder& recorder, PointResult& point);

 private:
  Sample SampleHere() const;
  std::optional<ServerSwitches> Switches(bool on) const;
  void ReportClient(const Measured& measured, PointResult& point);
  void ReportServers(const Measured& measured, PointResult& point);
  void ReportRpcsPerConnection(PointResult& point) const;
  void ReportBreakdown(const Recorder& recorder, PointResult& point) const;

  const RunConfig& config_;
  const ChannelPlan& plan_;
  ControlClients* servers_;
  const bool counting_;
  std::vector<OpenConnection> connections_;
  std::optional<Sample> begin_;
  std::optional<Sample> end_;
  std::future<ControlClients::Moments> servers_begin_;
  std::future<ControlClients::Moments> servers_end_;
  // Of the servers, merged; filled by Report().
  std::optional<Histogram> handling_;
  std::optional<Histogram> finishing_;
};

}  // namespace cqbench
