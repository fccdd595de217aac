#include "src/load/run/point_connections.h"

#include <algorithm>
#include <ctime>

#include "cqbench/engine.h"
#include "src/base/last_resort.h"
#include "src/base/machine.h"
#include "src/base/reachability.h"
#include "src/channel/tls.h"

namespace cqbench {
namespace {

Nanos ProcessCpuNs() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return spent.tv_sec * kNanosPerSecond + spent.tv_nsec;
}

std::vector<Endpoint> AddressesOf(const Target& target) {
  return ResolveTargets({target}).value_or(std::vector<Endpoint>());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChannelPool>> PointConnections::Connect(const ChannelPlan& plan, bool timed) {
  if (setting_.make_pool) return std::make_unique<ChannelPool>(setting_.make_pool());
  WaitForOldConnections();
  if (ConnectsByItself(config_.api)) return nullptr;
  ForgetHandshakes();
  // For each server that does not answer, it takes a second to find out why there is no connection.
  const Nanos explaining = 2 * kNanosPerSecond * static_cast<Nanos>(config_.targets.size());
  const StepLimit limit("connecting", config_.connect_timeout_ns + explaining + StepLimit::kSlack);
  const Nanos begun = NowNs();
  const Nanos cpu = ProcessCpuNs();
  auto pool = ChannelPool::Connect(
      config_, plan, setting_.credentials,
      {[this] { return setting_.interrupt.Pending(); }, [this](const Target& target) { return MayGiveUp(target); },
       [this](const Target& target) { return ExplainFailure(target); }});
  if (pool.ok() && timed) {
    point_.figures.Set("client_connect_ns", static_cast<double>(NowNs() - begun));
    point_.figures.Set("client_connect_cpu_ns", static_cast<double>(ProcessCpuNs() - cpu));
  }
  if (!pool.ok()) return pool.status();
  auto connected = std::make_unique<ChannelPool>(*std::move(pool));
  if (!config_.security.tls) return connected;
  if (absl::Status kept = ValidateTlsLimitsReachLibrary(config_.security); !kept.ok()) return kept;
  point_.negotiated = SeenHandshakes();
  if (point_.negotiated.empty())
    point_.notes.push_back(
        {kNotMeasured, "what TLS agreed on is not known: gRPC has a TLS library of its own built in"});
  return connected;
}

// Returns true when further attempts to connect to the target would fail, too.
bool PointConnections::MayGiveUp(const Target& target) const {
  if (config_.wait_for_server) return false;
  return config_.security.tls ? TryTls(target, config_.security).lasting : IsUnreachable(AddressesOf(target));
}

std::string PointConnections::ExplainFailure(const Target& target) const {
  if (std::string near = NearLimit(); !near.empty()) return near;
  if (!config_.security.tls) return ExplainNoConnection(AddressesOf(target));
  const std::string why = TryTls(target, config_.security).why;
  if (!why.empty()) return why;
  return "a TLS connection works, gRPC's does not: is it a gRPC server, are channel arguments right?";
}

// The library closes the connections of the last point in the background; they would be counted as this point's.
void PointConnections::WaitForOldConnections() {
  WaitWhileMoreThan(0, 2 * kNanosPerMilli);
}

void PointConnections::WaitForLostAttempts() {
  WaitWhileMoreThan(point_.expected_connections, 10 * kNanosPerMilli);
}

// A count that cannot be read is not waited for.
void PointConnections::WaitWhileMoreThan(int connections, Nanos pause) {
  const Nanos give_up_at = NowNs() + kNanosPerSecond;
  while (CountConnections(setting_.endpoints).value_or(0) > connections && NowNs() < give_up_at) {
    if (setting_.interrupt.SleepUntil(NowNs() + pause)) return;
  }
}

std::optional<std::vector<OpenConnection>> PointConnections::Read() {
  if (setting_.endpoints.empty()) return std::nullopt;
  auto connections = FindConnections(setting_.endpoints, excluded_);
  if (connections) point_.connections = std::max(point_.connections.value_or(0), static_cast<int>(connections->size()));
  return connections;
}

void PointConnections::Exclude(const std::vector<OpenConnection>& measured) {
  for (const OpenConnection& c : FindConnections(setting_.endpoints).value_or(std::vector<OpenConnection>())) {
    const auto same = [&](const OpenConnection& other) { return other.id == c.id; };
    if (std::none_of(measured.begin(), measured.end(), same)) excluded_.insert(c.id);
  }
}

}  // namespace cqbench
