#include "src/client/evidence.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "absl/strings/str_cat.h"
#include "cqbench/engine.h"
#include "cqbench/process.h"

namespace cqbench {
namespace {

// CPUs of the second machine with servers are numbered from here on, and so forth.
constexpr int kCpusOfMachine = 100'000;

// Several servers are added up: their samples become one, with identities kept apart. Servers on one machine share its
// CPUs; `machine` is the number of the first server on it.
void Append(const Sample& from, uint64_t server, uint64_t machine, Sample& into) {
  ProcessSample& sum = into.process;
  const ProcessSample& p = from.process;
  into.taken_at_ns = server == 0 ? from.taken_at_ns : into.taken_at_ns;
  sum.user_ns += p.user_ns;
  sum.system_ns += p.system_ns;
  sum.voluntary_switches += p.voluntary_switches;
  sum.involuntary_switches += p.involuntary_switches;
  sum.minor_faults += p.minor_faults;
  sum.major_faults += p.major_faults;
  sum.rss_bytes += p.rss_bytes;
  sum.peak_rss_bytes += p.peak_rss_bytes;
  for (ThreadSample thread : from.threads) {
    thread.id += static_cast<int>(server << 24);  // the kernel's limit is 2^22
    into.threads.push_back(thread);
  }
  for (CpuSample cpu : from.cpus) {
    cpu.cpu += static_cast<int>(machine) * kCpusOfMachine;
    const auto same = [&](const CpuSample& other) { return other.cpu == cpu.cpu; };
    if (std::none_of(into.cpus.begin(), into.cpus.end(), same)) into.cpus.push_back(cpu);
  }
  for (ConnectionSample connection : from.connections) {
    connection.id += server << 48;
    into.connections.push_back(connection);
  }
  into.unix_connections += from.unix_connections;
  if (from.allocations) {
    if (!into.allocations) into.allocations.emplace();
    into.allocations->allocations += from.allocations->allocations;
    into.allocations->bytes += from.allocations->bytes;
  }
  into.messages += from.messages;
  if (from.posted_requests) into.posted_requests = into.posted_requests.value_or(0) + *from.posted_requests;
  into.messages_per_queue.insert(into.messages_per_queue.end(), from.messages_per_queue.begin(),
                                 from.messages_per_queue.end());
}

Sample Sum(const ControlClients::Moments& moments, const std::vector<ServerInfo>& servers) {
  if (moments.size() == 1) return moments.front().sample;
  Sample sum;
  for (size_t i = 0; i < moments.size(); ++i) {
    const auto first = std::find_if(servers.begin(), servers.end(),
                                    [&](const ServerInfo& s) { return s.boot_id == servers[i].boot_id; });
    Append(moments[i].sample, i, static_cast<uint64_t>(first - servers.begin()), sum);
  }
  return sum;
}

// A server that is late with a sample, at the begin or at the end, saw another stretch of time than the window.
bool IsAboutAsLong(Nanos apart, Nanos window) {
  return apart > 0 && std::abs(apart - window) <= window / 5;
}

void MergeInto(std::optional<Histogram>& total, const std::optional<Histogram>& more) {
  if (!more) return;
  if (!total) total.emplace();
  total->Merge(*more);
}

// What one timed call costs beside what it measures: two clock reads and two values recorded. Measured here, on this
// thread, now.
double CostOfTimingNs() {
  constexpr int kTimes = 20'000;
  RunWindow window;
  window.Set(0, INT64_MAX);
  Recorder recorder(&window);
  const Nanos begin = NowNs();
  for (int i = 0; i < kTimes; ++i) {
    const Nanos now = NowNs();
    recorder.Parts(begin, now - begin, NowNs() - now);
  }
  return static_cast<double>(NowNs() - begin) / kTimes;
}

double CostOfClockNs() {
  constexpr int kTimes = 20'000;
  const Nanos begin = NowNs();
  Nanos last = begin;
  for (int i = 0; i < kTimes; ++i) last = NowNs();
  return static_cast<double>(last - begin) / kTimes;
}

}  // namespace

void PointEvidence::Find(const std::optional<std::vector<OpenConnection>>& connections) {
  if (connections) connections_ = *connections;
}

Sample PointEvidence::SampleHere() const {
  if (config_.evidence) return TakeSample(connections_);
  Sample sample;
  sample.taken_at_ns = NowNs();
  sample.process = ReadProcess();
  if (CanCountAllocations()) sample.allocations = CountedAllocations();
  return sample;
}

// Absent when this run wants none: another client's are not to be switched off.
std::optional<ServerSwitches> PointEvidence::Switches(bool on) const {
  if (counting_) return ServerSwitches{false, on};
  if (config_.breakdown) return ServerSwitches{on, false};
  return std::nullopt;
}

void PointEvidence::Begin() {
  if (servers_) servers_begin_ = servers_->SampleAll(Switches(/*on=*/true));
  if (counting_) SetCountingAllocations(true);
  begin_ = SampleHere();
}

void PointEvidence::End() {
  if (servers_) servers_end_ = servers_->SampleAll(Switches(/*on=*/false));
  end_ = SampleHere();
  if (counting_) SetCountingAllocations(false);
}

void PointEvidence::Report(const Recorder& recorder, PointResult& point) {
  if (!begin_ || !end_) return;
  const Measured measured{point.window_ns, point.completed};
  if (counting_) {
    AddAllocationFigures("client", *begin_, *end_, point.completed, point.figures);
  } else {
    ReportClient(measured, point);
  }
  if (servers_) ReportServers(measured, point);
  if (config_.breakdown && !counting_) ReportBreakdown(recorder, point);
}

void PointEvidence::ReportClient(const Measured& measured, PointResult& point) {
  AddCpuFigures("client", *begin_, *end_, measured, point.figures);
  if (!config_.evidence) return;
  AddProcessFigures("client", *begin_, *end_, measured, point.figures);
  point.client_cpus = CompareCpus(*begin_, *end_);
  const std::string absent = AddConnectionFigures("client", *begin_, *end_, measured, point.figures);
  if (!absent.empty()) {
    point.notes.push_back(absl::StrCat("client: ", absent));
    return;
  }
  point.facts.emplace_back("client_congestion_control", CongestionControl(*end_));
  ReportRpcsPerConnection(point);
}

void PointEvidence::ReportServers(const Measured& measured, PointResult& point) {
  const ControlClients::Moments begin = servers_begin_.get(), end = servers_end_.get();
  if (begin.empty() || end.empty()) {
    point.notes.emplace_back("server: its control service did not answer at an edge of the window");
    return;
  }
  const Sample a = Sum(begin, servers_->servers()), b = Sum(end, servers_->servers());
  if (const Nanos apart = b.taken_at_ns - a.taken_at_ns; !IsAboutAsLong(apart, measured.window_ns)) {
    point.notes.push_back(absl::StrCat("server: its samples are ", FormatDuration(apart), " apart, the window is ",
                                       FormatDuration(measured.window_ns), " long: its figures are absent"));
    return;
  }
  if (counting_) return AddAllocationFigures("server", a, b, b.messages - a.messages, point.figures);
  for (const ServerMoment& moment : end) {
    MergeInto(handling_, moment.handling);
    MergeInto(finishing_, moment.finishing);
  }
  AddServerFigures(a, b, measured, point.figures);
  // In relation to the server's own count: other clients may use it at the same time.
  const Measured served{measured.window_ns, static_cast<uint64_t>(point.figures.Get("server_rpcs").value_or(0))};
  AddCpuFigures("server", a, b, served, point.figures);
  AddProcessFigures("server", a, b, served, point.figures);
  point.server_cpus = CompareCpus(a, b);
  const std::string absent = AddConnectionFigures("server", a, b, served, point.figures);
  if (absent.empty()) {
    point.facts.emplace_back("server_congestion_control", CongestionControl(b));
  } else {
    point.notes.push_back(absl::StrCat("server: ", absent));
  }
}

// Which channel has which connection is not known to anyone outside the library, but how many calls went over each
// connection is: a channel has one of its own or shares its host's with all others.
void PointEvidence::ReportRpcsPerConnection(PointResult& point) const {
  if (point.connections != point.expected_connections || plan_.channels.empty()) return;
  std::map<std::pair<int, int>, double> rpcs;
  for (size_t worker = 0; worker < point.completed_per_worker.size(); ++worker) {
    const size_t index = worker % plan_.channels.size();
    const ChannelPlan::Channel& channel = plan_.channels[index];
    const bool own = channel.local_pool || channel.distinguishing_value >= 0;
    rpcs[{channel.host, own ? static_cast<int>(index) : -1}] += static_cast<double>(point.completed_per_worker[worker]);
  }
  std::vector<double> values;
  for (const auto& [connection, count] : rpcs) values.push_back(count);
  SetDistribution("client_rpcs_per_connection", std::move(values), point.figures);
}

void PointEvidence::ReportBreakdown(const Recorder& recorder, PointResult& point) const {
  Figures& figures = point.figures;
  const double cost = CostOfTimingNs();
  figures.Set("breakdown_cost_per_timed_rpc_ns", cost);
  figures.Set("breakdown_cost_per_rpc_ns", cost / Engine::kTimedEvery);
  figures.Set("breakdown_clock_ns", CostOfClockNs());
  const auto set = [&](absl::string_view name, const Histogram& times) {
    if (times.Count() == 0) return false;
    figures.Set(absl::StrCat("breakdown_", name, "_samples"), static_cast<double>(times.Count()));
    figures.Set(absl::StrCat("breakdown_", name, "_p50_ns"), static_cast<double>(times.ValueAtPercentile(50)));
    figures.Set(absl::StrCat("breakdown_", name, "_p99_ns"), static_cast<double>(times.ValueAtPercentile(99)));
    return true;
  };
  const bool issue = recorder.parts() && set("client_issue", recorder.parts()->issue);
  if (!issue) point.notes.emplace_back("breakdown: a blocking call does not tell when it has been issued");
  const bool wait = recorder.parts() && set("client_wait", recorder.parts()->wait);
  if (issue && !wait) {
    point.notes.emplace_back(
        "breakdown: with the callback API the end of a call may be seen before issuing it returns: no wait");
  }
  const bool handling = handling_ && set("server_handling", *handling_);
  if (finishing_) set("server_finishing", *finishing_);
  if (!handling) point.notes.emplace_back("breakdown: no times of the server");

  // Shares of the median call. The rest is both libraries' work, queues and wake-ups: no API tells these apart.
  if (!point.latency || point.latency->p50_ns <= 0) return;
  const auto p50 = static_cast<double>(point.latency->p50_ns);
  double rest = 1;
  const auto share = [&](absl::string_view name, absl::string_view from) {
    const auto part = figures.Get(from);
    if (!part) return;
    figures.Set(absl::StrCat("breakdown_", name, "_share"), *part / p50);
    rest -= *part / p50;
  };
  share("client_issue", "breakdown_client_issue_p50_ns");
  share("server_handling", "breakdown_server_handling_p50_ns");
  share("network", "client_rtt_min_ns_median");
  figures.Set("breakdown_rest_share", std::max(rest, 0.0));
}

}  // namespace cqbench
