#include "src/observe/checks/self_check.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/observe/checks/load_check.h"
#include "src/observe/checks/thresholds.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/process.h"
#include "src/result/figure_catalogue.h"

namespace cqbench {
namespace {

std::string Percent(double share) {
  return absl::StrFormat("%.0f %%", share * 100);
}

template <typename Cpus>
bool Overlap(const std::vector<int>& a, const Cpus& b) {
  return std::any_of(a.begin(), a.end(), [&](int cpu) { return std::find(b.begin(), b.end(), cpu) != b.end(); });
}

// A spinning thread uses its core whatever there is to do.
bool ServerSpins(const std::vector<ServerDescription>& servers) {
  return std::any_of(servers.begin(), servers.end(), [](const ServerDescription& s) { return s.poll() == "spin"; });
}

// Calls that failed at the client, or never ended there, may have been served.
double MostServed(const PointResult& point) {
  return static_cast<double>(point.completed + point.Failed() + point.counts.unfinished);
}
// The server's samples are not taken at the window's boundaries, so its number of calls may differ by this.
double Tolerance(const PointResult& point) {
  return 4 * std::sqrt(MostServed(point)) + 2.0 * point.load.slots;
}

class PointCheck {
 public:
  PointCheck(PointResult& point, const RunConfig& config, const std::vector<ServerDescription>& servers)
      : point_(point), config_(config), servers_(servers) {}

  void Run() {
    CheckUnfinished(point_);
    if (point_.window_ns <= 0 || point_.completed == 0) return;
    CheckSaturation();
    CheckSlots(point_);
    if (!InRanks()) {  // what the partners use of the machines and of the server is theirs to use
      CheckOthers(Side::kClient, ClientPartner());
      CheckOthers(Side::kServer, ServerPartner());
    }
    CheckSteal("client", point_.client_cpus);
    CheckSteal("server", point_.server_cpus);
    CheckSteadiness(point_);
    if (!InRanks()) CheckServerCount();
    if (point_.load.open()) {
      CheckSchedule(point_, config_);
    } else {
      CheckLittlesLaw(point_, config_);
    }
    NoteSamples();
  }

 private:
  bool InRanks() const { return point_.rank && point_.rank->count > 1; }
  double Figure(absl::string_view name) const { return point_.figures.Get(name).value_or(0); }

  bool SharedCpus() const {
    static const std::string boot_id = DescribeEnvironment(0, nullptr).boot_id;
    return std::any_of(servers_.begin(), servers_.end(), [](const ServerDescription& server) {
      return server.boot_id() == boot_id && Overlap(AllowedCpus(), server.cpus());
    });
  }

  // The CPUs that the other end may take from one end; below 0: not known.
  double ClientPartner() const {
    if (servers_.empty()) return -1;
    return SharedCpus() ? Figure("server_cores_used") : 0;
  }
  double ServerPartner() const { return SharedCpus() ? Figure("client_cores_used") : 0; }

  void CheckSaturation() {
    const bool client_spins =
        config_.poll == PollMode::kSpin || (point_.load.open() && config_.schedule.pace == Pace::kSpin);
    const struct {
      Side side;
      const char* code;
      bool spins;
    } ends[] = {{Side::kClient, kClientCpuSaturated, client_spins},
                {Side::kServer, kServerCpuSaturated, ServerSpins(servers_)}};
    for (const auto& [side, code, spins] : ends) {
      const double used = Figure(NameOf(side, "client_cores_used"));
      const double allowed = Figure(NameOf(side, "client_cpus_allowed"));
      if (spins || allowed <= 0 || used < kSaturated * allowed) continue;
      point_.notes.push_back({code, absl::StrFormat("the %s uses %.2f of %.0f CPU(s): this measures CPU, not the "
                                                    "connection",
                                                    ToString(side), used, allowed)});
    }
  }

  void CheckOthers(Side side, double partner) {
    const double allowed = Figure(NameOf(side, "client_cpus_allowed"));
    if (partner < 0 || allowed <= 0) return;
    const double others =
        Figure(NameOf(side, "client_cpus_busy")) - Figure(NameOf(side, "client_cores_used")) - partner;
    // Three ticks of each CPU may be an accident of sampling.
    const double ticks = 3 * 0.01 * allowed / ToSeconds(point_.window_ns);
    if (others < kOthersShare * allowed + ticks) return;
    Warn(kOtherProcesses,
         absl::StrFormat("other processes used %.2f of the %.0f CPU(s) of the %s", others, allowed, ToString(side)));
  }

  void CheckSteal(absl::string_view side, const std::vector<CpuShares>& cpus) {
    double steal = 0;
    for (const CpuShares& cpu : cpus) steal = std::max(steal, cpu.steal);
    if (steal < kStealShare || steal * ToSeconds(point_.window_ns) < 0.03) return;
    Warn(kSteal, absl::StrCat("the hypervisor took ", Percent(steal), " of a CPU of the ", side));
  }

  // A note, because percentiles that are not known are withheld. Without the number, so that repetitions say it once.
  void NoteSamples() {
    if (!point_.latency) return;
    const struct {
      const char* name;
      uint64_t needs;
    } percentiles[] = {{"P50", 20}, {"P90", 100}, {"P99", 1'000}, {"P99.9", 10'000}};
    for (const auto& [name, needs] : percentiles) {
      if (point_.latency->count >= needs) continue;
      point_.notes.push_back({kTooFewCalls, absl::StrCat("too few calls for ", name, ", which needs ", needs)});
      return;  // and hence for all that follow
    }
  }

  // Otherwise something in between passes calls on, over connections of its own.
  bool CallsTheServers() const {
    if (config_.control.empty()) return true;
    const auto is_of = [](const Target& target, const auto& addresses) {
      return std::any_of(addresses.begin(), addresses.end(), [&](const std::string& address) {
        const auto other = ParseTarget(address, 0);
        return other.ok() && other->port == target.port && other->unix_path == target.unix_path;
      });
    };
    return std::all_of(config_.targets.begin(), config_.targets.end(), [&](const Target& target) {
      return std::any_of(servers_.begin(), servers_.end(), [&](const ServerDescription& server) {
        return is_of(target, server.listening()) || is_of(target, server.http_front_ends());
      });
    });
  }

  void CheckServerCount() {
    if (const auto other = OtherConnections(point_, "this one"); other && CallsTheServers()) {
      point_.warnings.push_back(*other);
      return;
    }
    const auto served = point_.figures.Get("server_rpcs");
    // The number of responses to a request of a user's own method is not known.
    if (!served || (config_.http != nullptr && config_.method.id == MethodInfo::kNotOurs)) return;
    if (const auto other = OtherCalls(point_)) point_.warnings.push_back(*other);
    const auto completed = static_cast<double>(point_.completed);
    if (!config_.control.empty() && *served < completed * (1 - kOtherRpcs) - Tolerance(point_)) {
      Warn(kOtherServer,
           absl::StrFormat("the server that --control names responded to %.2f of the calls: it is not the "
                           "one that was measured, or not alone",
                           *served / completed));
    }
  }

  void Warn(const char* code, std::string text) { point_.warnings.push_back({code, std::move(text)}); }

  PointResult& point_;
  const RunConfig& config_;
  const std::vector<ServerDescription>& servers_;
};

std::optional<uint32_t> LowestStreamLimit(const std::vector<PeerSettings>& servers) {
  std::optional<uint32_t> lowest;
  for (const PeerSettings& server : servers) {
    const std::optional<uint32_t>& limit = server.announced.max_concurrent_streams;
    if (limit && (!lowest || *limit < *lowest)) lowest = limit;
  }
  return lowest;
}

double CallsInFlight(const PointResult& point) {
  if (!point.open_loop) return point.load.slots;
  const double outstanding =
      std::max(point.open_loop->outstanding_first_half, point.open_loop->outstanding_second_half);
  return std::min<double>(outstanding, point.load.slots);
}

void CheckMachine(absl::string_view side, const std::string& clock_source, const std::optional<bool>& scaling,
                  std::vector<Notice>& warnings) {
  // The second is ARM's counter, which programs read as directly.
  if (!clock_source.empty() && clock_source != "tsc" && clock_source != "arch_sys_counter") {
    warnings.push_back({kClockSource, absl::StrCat("the clock source of the ", side, " is ", clock_source,
                                                   ", not TSC: each clock reading may be a system call")});
  }
  if (scaling == true) {
    warnings.push_back(
        {kCpuScaling, absl::StrCat("the CPU frequency governor of the ", side, " is not 'performance'")});
  }
}

}  // namespace

void CheckPoint(const RunConfig& config, const std::vector<ServerDescription>& servers, PointResult& point) {
  PointCheck(point, config, servers).Run();
}

std::optional<Notice> OtherConnections(const PointResult& point, absl::string_view clients) {
  const auto theirs = point.figures.Get("server_connections"), ours = point.figures.Get("client_connections");
  if (!theirs || !ours || *theirs <= *ours) return std::nullopt;
  return Notice{kOtherClient, absl::StrFormat("another client uses the server: it has %.0f connections more than %s",
                                              *theirs - *ours, clients)};
}

std::optional<Notice> OtherCalls(const PointResult& point) {
  const auto served = point.figures.Get("server_rpcs");
  const double most = MostServed(point);
  if (!served || most == 0 || *served <= most * (1 + kOtherRpcs) + Tolerance(point)) return std::nullopt;
  return Notice{
      kOtherClient,
      absl::StrFormat("another client uses the server: it responded to %.2f times as many calls", *served / most)};
}

void CheckStreams(const std::vector<PeerSettings>& servers, PointResult& point) {
  if (point.window_ns <= 0) return;
  const std::optional<uint32_t> limit = LowestStreamLimit(servers);
  const int connections = point.connections.value_or(point.expected_connections);
  const double in_flight = CallsInFlight(point);
  if (!limit || connections <= 0 || in_flight <= static_cast<double>(*limit) * connections) return;
  // The mean of an open loop is left out, so that repetitions say it once.
  const std::string calls = point.open_loop ? "calls" : absl::StrCat(point.load.slots, " calls");
  point.notes.push_back(
      {kStreamLimit, absl::StrCat("the server allows ", *limit, " concurrent stream(s) per connection: ", calls,
                                  " in flight on ", connections, " connection(s) wait for a stream")});
}

void CheckSleep(Nanos slept_ns, PointResult& point) {
  if (slept_ns < kSlept) return;
  point.warnings.push_back(
      {kSuspended, absl::StrFormat("the machine slept for %.1f s within the window", ToSeconds(slept_ns))});
}

std::vector<Notice> CheckSetting(const Environment& environment, const std::vector<int>& client_cpus,
                                 const std::vector<ServerDescription>& servers) {
  std::vector<Notice> warnings;
  CheckMachine("client", environment.clock_source, environment.cpu_scaling_enabled, warnings);
  for (const ServerDescription& server : servers) {
    if (server.boot_id() != environment.boot_id) {
      CheckMachine("server", server.clock_source(), server.has_cpu_scaling_enabled() && server.cpu_scaling_enabled(),
                   warnings);
    } else if (Overlap(client_cpus, server.cpus())) {
      warnings.push_back(
          {kSharedCpus, absl::StrCat("client and server share CPUs (", FormatCpuList(client_cpus), " and ",
                                     FormatCpuList({server.cpus().begin(), server.cpus().end()}),
                                     "): pin them apart with taskset or "
                                     "numactl")});
    }
  }
  return warnings;
}

}  // namespace cqbench
