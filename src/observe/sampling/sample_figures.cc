// Pairs of samples into figures.

#include "src/observe/sampling/sample_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cqbench {
namespace {

double Ratio(double a, double b) {
  return b > 0 ? a / b : 0.0;
}

template <typename T>
double Difference(T begin, T end) {
  return static_cast<double>(end) - static_cast<double>(begin);
}

// Sets the figures of one end, which are given by the client's names.
class Writer {
 public:
  Writer(Side side, Figures& figures) : side_(side), figures_(figures) {}
  void Set(absl::string_view client_name, double value) { figures_.Set(NameOf(side_, client_name), value); }
  void Distribution(absl::string_view client_name, std::vector<double> values) {
    SetDistribution(NameOf(side_, client_name), std::move(values), figures_);
  }

 private:
  const Side side_;
  Figures& figures_;
};

struct GroupUse {
  int threads = 0;
  double cpu_ns = 0;
  double busiest_ns = 0;
};

std::map<ThreadSample::Group, GroupUse> CompareThreads(const Sample& begin, const Sample& end) {
  std::map<int, Nanos> before;
  for (const ThreadSample& thread : begin.threads()) before[thread.id()] = thread.cpu_ns();
  std::map<ThreadSample::Group, GroupUse> groups;
  for (const ThreadSample& thread : end.threads()) {
    // A group that only a newer server knows counts as the library's.
    GroupUse& group = groups[ThreadSample::Group_IsValid(thread.group()) ? thread.group() : ThreadSample::LIBRARY];
    ++group.threads;
    const auto found = before.find(thread.id());  // not there: it was started meanwhile
    const double used = Difference(found == before.end() ? 0 : found->second, thread.cpu_ns());
    group.cpu_ns += used;
    group.busiest_ns = std::max(group.busiest_ns, used);
  }
  return groups;
}

// Each connection that is in both samples, with its own length of time between them.
struct ConnectionPair {
  const ConnectionSample* begin;
  const ConnectionSample* end;
  double length_ns() const { return Difference(begin->taken_at_ns(), end->taken_at_ns()); }
  // The kernel adds up busy time in ticks of its timer, so it may exceed the time between the samples a little.
  double BusyShare() const {
    return std::clamp(Ratio(Difference(begin->busy_ns(), end->busy_ns()), length_ns()), 0.0, 1.0);
  }
};

std::vector<ConnectionPair> PairConnections(const Sample& begin, const Sample& end) {
  std::map<uint64_t, const ConnectionSample*> before;
  for (const ConnectionSample& connection : begin.connections()) before[connection.id()] = &connection;
  std::vector<ConnectionPair> pairs;
  for (const ConnectionSample& connection : end.connections()) {
    const auto found = before.find(connection.id());
    if (found == before.end() || connection.taken_at_ns() <= found->second->taken_at_ns()) continue;
    pairs.push_back({found->second, &connection});
  }
  return pairs;
}

// Unrelated processes used the time that neither this process nor its partner on the same CPUs used; see self_check.cc.
// Soft interrupts are left out: some kernels count them to the process that they interrupted, and some to nobody.
double BusyOnAllowedCpus(const Sample& begin, const Sample& end) {
  std::map<int, Nanos> before;
  for (const CpuSample& cpu : begin.cpus()) before[cpu.cpu()] = cpu.busy_ns();
  double busy = 0;
  for (const CpuSample& cpu : end.cpus()) {
    const auto found = before.find(cpu.cpu());
    if (found != before.end())
      busy += std::max(Difference(found->second, cpu.busy_ns()), 0.0);  // it may go back a tick
  }
  return busy;
}

// Between two samples, scaled to the window.
struct Span {
  Span(const Sample& begin, const Sample& end, const Measured& measured)
      : length(Difference(begin.taken_at_ns(), end.taken_at_ns())),
        scale(length > 0 ? static_cast<double>(measured.window_ns) / length : 0),
        cpu(Difference(begin.process().user_ns(), end.process().user_ns()) +
            Difference(begin.process().system_ns(), end.process().system_ns())) {}
  double length, scale, cpu;
};

void WriteUse(const Span& span, const Sample& begin, const Sample& end, const Measured& measured, Writer& writer) {
  writer.Set("client_cores_used", span.cpu / span.length);
  writer.Set("client_cpus_allowed", static_cast<double>(end.cpus().size()));
  writer.Set("client_cpus_busy", BusyOnAllowedCpus(begin, end) / span.length);
  if (measured.completed > 0) {
    writer.Set("client_cpu_per_rpc_ns", span.cpu * span.scale / static_cast<double>(measured.completed));
  }
  writer.Set("client_rss_bytes", static_cast<double>(end.process().rss_bytes()));
}

}  // namespace

void SetDistribution(absl::string_view name, std::vector<double> values, Figures& figures) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  figures.Set(absl::StrCat(name, "_min"), values.front());
  const double median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  const double max = values.back();
  figures.SetMedian(absl::StrCat(name, "_median"), median, std::move(values));
  figures.Set(absl::StrCat(name, "_max"), max);
}

void AddCpuFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured, Figures& figures) {
  const double length = Difference(begin.taken_at_ns(), end.taken_at_ns());
  if (length <= 0) return;
  const double scale = static_cast<double>(measured.window_ns) / length;
  const double user = Difference(begin.process().user_ns(), end.process().user_ns());
  const double all = user + Difference(begin.process().system_ns(), end.process().system_ns());
  // A process that is looked at from outside has its total in nanoseconds and the shares of it in ticks: those of a
  // young one change so much that a part shrinks while the total grows.
  const double user_part = std::clamp(user, 0.0, std::max(all, 0.0));
  Writer writer(side, figures);
  writer.Set("client_cpu_user_ns", user_part * scale);
  writer.Set("client_cpu_system_ns", (all - user_part) * scale);
}

void AddProcessFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured, Figures& figures) {
  const Span span(begin, end, measured);
  if (span.length <= 0) return;
  const double length = span.length, scale = span.scale;
  const auto completed = static_cast<double>(measured.completed);
  const ProcessSample& a = begin.process();
  const ProcessSample& b = end.process();
  Writer writer(side, figures);
  WriteUse(span, begin, end, measured, writer);
  const double voluntary = Difference(a.voluntary_switches(), b.voluntary_switches()) * scale;
  const double involuntary = Difference(a.involuntary_switches(), b.involuntary_switches()) * scale;
  if (measured.completed > 0) {
    writer.Set("client_voluntary_context_switches_per_rpc", voluntary / completed);
    writer.Set("client_involuntary_context_switches_per_rpc", involuntary / completed);
  }
  auto groups = CompareThreads(begin, end);
  writer.Set("client_threads", static_cast<double>(end.threads().size()));
  writer.Set("client_threads_workers", groups[ThreadSample::WORKER].threads);
  writer.Set("client_threads_library", groups[ThreadSample::LIBRARY].threads);
  writer.Set("client_cpu_workers_ns", groups[ThreadSample::WORKER].cpu_ns * scale);
  writer.Set("client_cpu_other_threads_ns", groups[ThreadSample::OTHER].cpu_ns * scale);
  // Subtracts the client's own threads, because the library's threads come and go: those that ended are in the
  // process's total only.
  const double ours = groups[ThreadSample::WORKER].cpu_ns + groups[ThreadSample::OTHER].cpu_ns;
  writer.Set("client_cpu_library_ns", std::max(span.cpu - ours, 0.0) * scale);
  if (groups[ThreadSample::WORKER].threads > 0) {
    writer.Set("client_busiest_worker_share", std::min(groups[ThreadSample::WORKER].busiest_ns / length, 1.0));
    writer.Set("client_workers_busy_share",
               std::min(groups[ThreadSample::WORKER].cpu_ns / length / groups[ThreadSample::WORKER].threads, 1.0));
  }
  writer.Set("client_peak_rss_bytes", static_cast<double>(b.peak_rss_bytes()));
  writer.Set("client_minor_page_faults", std::round(Difference(a.minor_faults(), b.minor_faults()) * scale));
  writer.Set("client_major_page_faults", std::round(Difference(a.major_faults(), b.major_faults()) * scale));
}

void AddOtherProcessFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured,
                            Figures& figures) {
  const Span span(begin, end, measured);
  if (span.length <= 0) return;
  Writer writer(side, figures);
  WriteUse(span, begin, end, measured, writer);
}

std::string AddConnectionFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured,
                                 Figures& figures) {
  const std::vector<ConnectionPair> pairs = PairConnections(begin, end);
  if (pairs.empty()) {
    if (end.unix_connections() > 0) return "connections are Unix sockets, for which the kernel has no TCP_INFO";
    return "no TCP connection lived from the begin of the window to its end";
  }
  std::map<std::string, std::vector<double>> of_each;
  double segments = 0, retransmissions = 0, no_delay = 0, bytes_sent = 0, bytes_received = 0;
  for (const ConnectionPair& pair : pairs) {
    const ConnectionSample& a = *pair.begin;
    const ConnectionSample& b = *pair.end;
    const double scale = static_cast<double>(measured.window_ns) / pair.length_ns();
    const double sent = Difference(a.segments_sent(), b.segments_sent()) * scale;
    of_each["client_segments_sent_per_connection"].push_back(sent);
    of_each["client_segments_received_per_connection"].push_back(
        Difference(a.segments_received(), b.segments_received()) * scale);
    const double out = Difference(a.bytes_sent(), b.bytes_sent()) * scale;
    const double in = Difference(a.bytes_received(), b.bytes_received()) * scale;
    of_each["client_bytes_sent_per_connection"].push_back(out);
    of_each["client_bytes_received_per_connection"].push_back(in);
    bytes_sent += out;
    bytes_received += in;
    of_each["client_connection_busy_share"].push_back(pair.BusyShare());
    if (sent > 0) {
      of_each["client_connection_idle_per_segment_ns"].push_back((1 - pair.BusyShare()) *
                                                                 static_cast<double>(measured.window_ns) / sent);
    }
    of_each["client_rtt_smoothed_ns"].push_back(static_cast<double>(b.rtt_smoothed_ns()));
    of_each["client_rtt_min_ns"].push_back(static_cast<double>(b.rtt_min_ns()));
    segments += sent;
    retransmissions += Difference(a.retransmissions(), b.retransmissions()) * scale;
    no_delay += b.no_delay() ? 1 : 0;
  }
  Writer writer(side, figures);
  writer.Set("client_connections", static_cast<double>(pairs.size()));
  writer.Set("client_bytes_sent", bytes_sent);
  writer.Set("client_bytes_received", bytes_received);
  for (auto& [name, values] : of_each) writer.Distribution(name, std::move(values));
  if (segments > 0) writer.Set("client_rpcs_per_segment_sent", static_cast<double>(measured.completed) / segments);
  writer.Set("client_retransmissions", std::round(retransmissions));
  writer.Set("client_connections_with_tcp_nodelay", no_delay);
  return "";
}

void AddAllocationFigures(Side side, const Sample& begin, const Sample& end, uint64_t completed, Figures& figures) {
  if (!begin.has_allocations() || !end.has_allocations() || completed == 0) return;
  Writer writer(side, figures);
  const auto rpcs = static_cast<double>(completed);
  const AllocationCounts before = CountsOf(begin);
  const AllocationCounts after = CountsOf(end);
  // The cost of asking was measured at another time, so the difference may be below 0.
  const auto set = [&](absl::string_view name, uint64_t from, uint64_t to) {
    writer.Set(name, std::max(Difference(from, to), 0.0) / rpcs);
  };
  set("client_allocations_per_rpc", before.allocations, after.allocations);
  set("client_allocated_bytes_per_rpc", before.bytes, after.bytes);
  set("client_frees_elsewhere_per_rpc", before.freed_elsewhere, after.freed_elsewhere);
}

void AddServerFigures(const Sample& begin, const Sample& end, const Measured& measured, Figures& figures) {
  const double length = Difference(begin.taken_at_ns(), end.taken_at_ns());
  if (length <= 0) return;
  const double scale = static_cast<double>(measured.window_ns) / length / measured.responses_per_call;
  figures.Set("server_rpcs", Difference(begin.messages(), end.messages()) * scale);
  std::vector<double> per_queue;
  if (begin.messages_per_queue_size() == end.messages_per_queue_size()) {
    for (int i = 0; i < end.messages_per_queue_size(); ++i) {
      per_queue.push_back(Difference(begin.messages_per_queue(i), end.messages_per_queue(i)) * scale);
    }
  }
  SetDistribution("server_rpcs_per_queue", std::move(per_queue), figures);
  if (end.has_posted_requests()) figures.Set("server_posted_requests", static_cast<double>(end.posted_requests()));
}

std::vector<CpuShares> CompareCpus(const Sample& begin, const Sample& end) {
  std::vector<CpuShares> shares;
  for (const CpuSample& b : end.cpus()) {
    const auto a =
        std::find_if(begin.cpus().begin(), begin.cpus().end(), [&](auto& cpu) { return cpu.cpu() == b.cpu(); });
    if (a == begin.cpus().end()) continue;
    // Some of the kernel's counters are known to go back a tick now and then.
    const double busy = std::max(Difference(a->busy_ns(), b.busy_ns()), 0.0);
    const double idle = std::max(Difference(a->idle_ns(), b.idle_ns()), 0.0);
    const double softirq = std::max(Difference(a->softirq_ns(), b.softirq_ns()), 0.0);
    const double steal = std::max(Difference(a->steal_ns(), b.steal_ns()), 0.0);
    const double all = busy + idle + softirq + steal;
    if (all <= 0) continue;  // shorter than a tick
    shares.push_back({b.cpu(), busy / all, idle / all, softirq / all, steal / all});
  }
  return shares;
}

std::string CongestionControl(const Sample& sample) {
  std::set<std::string> names;
  for (const ConnectionSample& connection : sample.connections()) names.insert(connection.congestion_control());
  return absl::StrJoin(names, ", ");
}

}  // namespace cqbench
