#include "src/observe/sampling/take_sample.h"

#include "src/observe/sampling/process.h"
#include "src/observe/sampling/tcp_info.h"

namespace cqbench {

Sample TakeSample(const std::vector<OpenConnection>& connections) {
  Sample sample;
  sample.taken_at_ns = NowNs();
  sample.process = ReadProcess();
  sample.cpus = ReadCpus(AllowedCpus());
  for (const OpenConnection& connection : connections) {
    if (!connection.is_tcp) {
      ++sample.unix_connections;
    } else if (auto tcp = ReadTcpInfo(connection.fd, connection.id)) {
      sample.connections.push_back(*std::move(tcp));
    }
  }
  sample.threads = ReadThreads();
  return sample;
}

std::optional<Sample> TakeSampleOf(int pid) {
  Sample sample;
  sample.taken_at_ns = NowNs();
  const auto process = ReadProcess(pid);
  if (!process) return std::nullopt;
  sample.process = *process;
  sample.cpus = ReadCpus(AllowedCpus(pid));
  return sample;
}

}  // namespace cqbench
