#include "cqbench/process.h"

#include <sched.h>
#include <sys/resource.h>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

Nanos ToNanos(const timeval& t) {
  return t.tv_sec * kNanosPerSecond + t.tv_usec * kNanosPerMicro;
}

}  // namespace

CpuTime ReadCpuTime() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {NowNs(), ToNanos(usage.ru_utime), ToNanos(usage.ru_stime)};
}

std::vector<int> AllowedCpus() {
  // Machines with more CPUs than a cpu_set_t holds need a larger set; the kernel says so with EINVAL.
  for (int capacity = CPU_SETSIZE; capacity <= 64 * CPU_SETSIZE; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(capacity));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    std::vector<int> cpus;
    if (sched_getaffinity(0, bytes, set) == 0) {
      for (int cpu = 0; cpu < capacity; ++cpu) {
        if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) cpus.push_back(cpu);
      }
    }
    CPU_FREE(set);
    if (!cpus.empty()) return cpus;
  }
  return {};
}

std::string FormatCpuList(const std::vector<int>& cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ",", cpus[i]);
    if (last > i) absl::StrAppend(&text, "-", cpus[last]);
    i = last + 1;
  }
  return text;
}

uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace cqbench
