#include "src/observe/evidence/server_sum.h"

#include <algorithm>
#include <cstdlib>

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
    *into.allocations += *from.allocations;
  }
  into.messages += from.messages;
  if (from.posted_requests) into.posted_requests = into.posted_requests.value_or(0) + *from.posted_requests;
  into.messages_per_queue.insert(into.messages_per_queue.end(), from.messages_per_queue.begin(),
                                 from.messages_per_queue.end());
}

// The larger deviation, either way.
Nanos Further(Nanos a, Nanos b) {
  return std::abs(b) > std::abs(a) ? b : a;
}

}  // namespace

ProcessSamples SumOfServers(const std::vector<ProcessSamples>& servers) {
  if (servers.size() == 1) return servers.front();
  ProcessSamples sum;
  sum.before_ns = servers.front().before_ns;
  sum.after_ns = servers.front().after_ns;
  for (size_t i = 0; i < servers.size(); ++i) {
    const ProcessSamples& server = servers[i];
    const auto first = std::find_if(servers.begin(), servers.end(),
                                    [&](const ProcessSamples& other) { return other.boot_id == server.boot_id; });
    const auto machine = static_cast<uint64_t>(first - servers.begin());
    Append(server.begin, i, machine, sum.begin);
    Append(server.end, i, machine, sum.end);
    sum.before_ns = Further(sum.before_ns, server.before_ns);
    sum.after_ns = Further(sum.after_ns, server.after_ns);
    sum.not_counted += server.not_counted;
  }
  return sum;
}

}  // namespace cqbench
