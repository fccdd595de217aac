#include "src/observe/sampling/take_sample.h"

#include "src/observe/sampling/process.h"
#include "src/observe/sampling/tcp_info.h"

namespace cqbench {

Sample SampleOfProcess() {
  Sample sample;
  sample.set_taken_at_ns(NowNs());
  *sample.mutable_process() = ReadProcess();
  return sample;
}

Sample TakeSample(const std::vector<OpenConnection>& connections) {
  Sample sample = SampleOfProcess();
  *sample.mutable_cpus() = ReadCpus(AllowedCpus());
  for (const OpenConnection& connection : connections) {
    if (!connection.is_tcp) {
      sample.set_unix_connections(sample.unix_connections() + 1);
    } else if (auto tcp = ReadTcpInfo(connection.fd, connection.id)) {
      *sample.add_connections() = *std::move(tcp);
    }
  }
  *sample.mutable_threads() = ReadThreads();
  return sample;
}

std::optional<Sample> TakeSampleOf(int pid) {
  Sample sample;
  sample.set_taken_at_ns(NowNs());
  auto process = ReadProcess(pid);
  if (!process) return std::nullopt;
  *sample.mutable_process() = *std::move(process);
  *sample.mutable_cpus() = ReadCpus(AllowedCpus(pid));
  return sample;
}

}  // namespace cqbench
