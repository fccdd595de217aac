#include "cqbench/self_check.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cqbench/environment.h"
#include "cqbench/process.h"

namespace cqbench {
namespace {

// Of the CPUs allowed: from here on there is nothing left to find but how fast they are.
constexpr double kSaturated = 0.95;
// Of the measured CPUs' time, taken by others. /proc/stat samples in ticks of 10 ms, so a little is always seen.
constexpr double kOthers = 0.10;
constexpr double kSteal = 0.01;
// Between the halves of the window, and between its first tenth and the rest.
constexpr double kDrift = 0.05;
constexpr double kUnsettled = 0.10;
// The server's samples may lie off the window by a fifth of its length, and throughput may not be steady. Connections
// say it more finely.
constexpr double kOtherRpcs = 0.25;

std::string Percent(double share) {
  return absl::StrFormat("%.0f %%", share * 100);
}

double Mean(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  return sum / static_cast<double>(end - begin);
}

bool Overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int cpu) { return std::find(b.begin(), b.end(), cpu) != b.end(); });
}

// A spinning thread uses its core whatever there is to do.
bool ServerSpins(const std::vector<ServerInfo>& servers) {
  return std::any_of(servers.begin(), servers.end(), [](const ServerInfo& s) { return s.poll == "spin"; });
}

class PointCheck {
 public:
  PointCheck(const PointResult& point, const RunConfig& config, const std::vector<ServerInfo>& servers)
      : point_(point), config_(config), servers_(servers) {}

  std::vector<std::string> Run() {
    if (point_.window_ns <= 0 || point_.completed == 0) return {};
    CheckSaturation();
    CheckOthers("client", ClientPartner());
    CheckOthers("server", ServerPartner());
    CheckSteal("client", point_.client_cpus);
    CheckSteal("server", point_.server_cpus);
    CheckSteadiness();
    CheckSamples();
    CheckServerCount();
    return std::move(reasons_);
  }

 private:
  double Figure(absl::string_view name) const { return point_.figures.Get(name).value_or(0); }

  bool SharedCpus() const {
    static const std::string boot_id = DescribeEnvironment(0, nullptr).boot_id;
    return std::any_of(servers_.begin(), servers_.end(), [](const ServerInfo& server) {
      return server.boot_id == boot_id && Overlap(AllowedCpus(), server.cpus);
    });
  }

  // What the other end may take from the CPUs of one end; below 0: not known.
  double ClientPartner() const {
    if (servers_.empty()) return -1;
    return SharedCpus() ? Figure("server_cores_used") : 0;
  }
  double ServerPartner() const { return SharedCpus() ? Figure("client_cores_used") : 0; }

  void CheckSaturation() {
    const struct {
      const char* side;
      bool spins;
    } ends[] = {{"client", config_.poll == PollMode::kSpin}, {"server", ServerSpins(servers_)}};
    for (const auto& [side, spins] : ends) {
      const double used = Figure(absl::StrCat(side, "_cores_used"));
      const double allowed = Figure(absl::StrCat(side, "_cpus_allowed"));
      if (spins || allowed <= 0 || used < kSaturated * allowed) continue;
      reasons_.push_back(absl::StrFormat(
          "CPU-bound: this measures CPU, not the connection: the %s uses %.2f of %.0f CPU(s)", side, used, allowed));
    }
  }

  void CheckOthers(absl::string_view side, double partner) {
    const double allowed = Figure(absl::StrCat(side, "_cpus_allowed"));
    if (partner < 0 || allowed <= 0) return;
    const double others =
        Figure(absl::StrCat(side, "_cpus_busy")) - Figure(absl::StrCat(side, "_cores_used")) - partner;
    // Three ticks of each CPU may be an accident of sampling.
    const double ticks = 3 * 0.01 * allowed / ToSeconds(point_.window_ns);
    if (others < kOthers * allowed + ticks) return;
    reasons_.push_back(
        absl::StrFormat("other processes used %.2f of the %.0f CPU(s) of the %s", others, allowed, side));
  }

  void CheckSteal(absl::string_view side, const std::vector<CpuShares>& cpus) {
    double steal = 0;
    for (const CpuShares& cpu : cpus) steal = std::max(steal, cpu.steal);
    if (steal < kSteal || steal * ToSeconds(point_.window_ns) < 0.03) return;
    reasons_.push_back(absl::StrCat("the hypervisor took ", Percent(steal), " of a CPU of the ", side));
  }

  void CheckSteadiness() {
    const std::vector<double>& slices = point_.slices_per_second;
    const size_t n = slices.size();
    if (n < 4) return;
    const double mean = Mean(slices, 0, n);
    // With few calls, chance alone makes halves differ: by about the square root of their number.
    const double chance = 4 / std::sqrt(static_cast<double>(point_.completed));
    if (mean <= 0) return;
    const double rest = Mean(slices, 1, n);
    double deviation = 0;
    for (size_t i = 1; i < n; ++i) deviation += (slices[i] - rest) * (slices[i] - rest);
    deviation = std::sqrt(deviation / static_cast<double>(n - 2));
    const double first = slices[0] - rest;
    if (rest > 0 && std::abs(first) > std::max({kUnsettled * rest, 3 * deviation, 2 * chance * rest})) {
      reasons_.push_back(absl::StrFormat(
          "not warmed up: throughput of the first tenth of the window is %+.0f %% off the rest", 100 * first / rest));
      return;
    }
    const double half = Mean(slices, 0, n / 2);
    const double drift = half > 0 ? Mean(slices, n / 2, n) / half - 1 : 1;
    if (std::abs(drift) > std::max(kDrift, chance)) {
      reasons_.push_back(
          absl::StrFormat("throughput drifts: %+.0f %% from the first to the second half of the window", 100 * drift));
    }
  }

  void CheckSamples() {
    if (!point_.latency) return;
    const struct {
      const char* name;
      Nanos LatencyStats::*field;
      int needs;
    } percentiles[] = {{"P50", &LatencyStats::p50_ns, 20},
                       {"P90", &LatencyStats::p90_ns, 100},
                       {"P99", &LatencyStats::p99_ns, 1'000},
                       {"P99.9", &LatencyStats::p999_ns, 10'000}};
    for (const auto& [name, field, needs] : percentiles) {
      if (point_.latency->Knows(field)) continue;
      reasons_.push_back(absl::StrCat("too few calls for ", name, ": ", point_.latency->count, ", it needs ", needs));
      return;  // and hence for all that follow
    }
  }

  void CheckServerCount() {
    const auto theirs = point_.figures.Get("server_connections"), ours = point_.figures.Get("client_connections");
    if (theirs && ours && *theirs > *ours) {
      reasons_.push_back(absl::StrFormat("another client uses the server: it has %.0f connections more than this one",
                                         *theirs - *ours));
      return;
    }
    const auto served = point_.figures.Get("server_rpcs");
    if (!served) return;
    const auto completed = static_cast<double>(point_.completed);
    const double chance = 4 * std::sqrt(completed) + 2.0 * point_.inflight;
    if (*served > completed * (1 + kOtherRpcs) + chance) {
      reasons_.push_back(
          absl::StrFormat("another client uses the server: it answered %.2f times as many calls", *served / completed));
    }
  }

  const PointResult& point_;
  const RunConfig& config_;
  const std::vector<ServerInfo>& servers_;
  std::vector<std::string> reasons_;
};

void CheckMachine(absl::string_view side, const std::string& clock_source, const std::optional<bool>& scaling,
                  std::vector<std::string>& reasons) {
  // The second is ARM's counter, which programs read as directly.
  if (!clock_source.empty() && clock_source != "tsc" && clock_source != "arch_sys_counter") {
    reasons.push_back(absl::StrCat("the clock source of the ", side, " is ", clock_source,
                                   ", not TSC: each look at the clock may be a system call"));
  }
  if (scaling == true) {
    reasons.push_back(absl::StrCat("the CPU frequency governor of the ", side, " is not 'performance'"));
  }
}

}  // namespace

std::vector<std::string> CheckPoint(const PointResult& point, const RunConfig& config,
                                    const std::vector<ServerInfo>& servers) {
  return PointCheck(point, config, servers).Run();
}

std::vector<std::string> CheckSetting(const RunContext& context, const std::vector<int>& client_cpus,
                                      const std::vector<ServerInfo>& servers) {
  std::vector<std::string> reasons;
  CheckMachine("client", context.clock_source, context.cpu_scaling_enabled, reasons);
  for (const ServerInfo& server : servers) {
    if (server.boot_id != context.boot_id) {
      CheckMachine("server", server.clock_source, server.cpu_scaling_enabled, reasons);
    } else if (Overlap(client_cpus, server.cpus)) {
      reasons.push_back(absl::StrCat("client and server share CPUs (", FormatCpuList(client_cpus), " and ",
                                     FormatCpuList(server.cpus), "): pin them apart with taskset or numactl"));
    }
  }
  return reasons;
}

}  // namespace cqbench
