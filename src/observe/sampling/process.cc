#include "src/observe/sampling/process.h"

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

// Given by the engines and the server; the control client's and the raw echo's threads carry no RPC that is measured.
constexpr absl::string_view kWorkerNames[] = {"sync-", "cq-", "http-", "pacer-", "server-cq-"};
constexpr absl::string_view kOtherNames[] = {"control", "tcp-echo"};

Nanos ToNanos(const timeval& t) {
  return t.tv_sec * kNanosPerSecond + t.tv_usec * kNanosPerMicro;
}

uint64_t ResidentBytes(const std::string& process) {
  std::ifstream file("/proc/" + process + "/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct Ticks {
  int64_t user = 0;
  int64_t system = 0;
};

// Reads a process's or thread's directory; absent when it has ended.
std::optional<Ticks> ReadTicks(const std::string& directory) {
  const std::string stat = FirstLine(directory + "/stat");
  if (stat.empty()) return std::nullopt;
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  Ticks ticks;
  fields >> ticks.user >> ticks.system;
  return ticks;
}

// schedstat has nanoseconds; where the kernel was built without it, or keeps zeros in it, stat has ticks. Absent when
// the thread has ended meanwhile.
std::optional<Nanos> CpuTimeOfThread(const std::string& directory) {
  Nanos cpu = 0, waited = 0;
  uint64_t turns = 0;
  if (std::ifstream file(directory + "/schedstat"); file >> cpu >> waited >> turns && turns > 0) return cpu;
  const auto ticks = ReadTicks(directory);
  if (!ticks) return std::nullopt;
  return (ticks->user + ticks->system) * kNanosPerSecond / sysconf(_SC_CLK_TCK);
}

}  // namespace

ProcessSample ReadProcess() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  ProcessSample sample;
  sample.set_user_ns(ToNanos(usage.ru_utime));
  sample.set_system_ns(ToNanos(usage.ru_stime));
  sample.set_voluntary_switches(static_cast<uint64_t>(usage.ru_nvcsw));
  sample.set_involuntary_switches(static_cast<uint64_t>(usage.ru_nivcsw));
  sample.set_minor_faults(static_cast<uint64_t>(usage.ru_minflt));
  sample.set_major_faults(static_cast<uint64_t>(usage.ru_majflt));
  sample.set_rss_bytes(ResidentBytes("self"));
  // The kernel updates the two now and then, not together.
  sample.set_peak_rss_bytes(std::max(static_cast<uint64_t>(usage.ru_maxrss) * 1024, sample.rss_bytes()));
  return sample;
}

std::optional<ProcessSample> ReadProcess(int pid) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return std::nullopt;
  const auto ticks = ReadTicks(absl::StrCat("/proc/", pid));
  if (!ticks) return std::nullopt;
  const Nanos total = used.tv_sec * kNanosPerSecond + used.tv_nsec;
  const int64_t all = std::max<int64_t>(ticks->user + ticks->system, 1);
  ProcessSample sample;
  const double user = static_cast<double>(total) * static_cast<double>(ticks->user) / static_cast<double>(all);
  sample.set_user_ns(static_cast<Nanos>(user));
  sample.set_system_ns(total - sample.user_ns());
  sample.set_rss_bytes(ResidentBytes(absl::StrCat(pid)));
  return sample;
}

ThreadSample::Group GroupOfThread(const std::string& name, bool is_main) {
  const auto starts = [&](absl::string_view prefix) { return absl::StartsWith(name, prefix); };
  if (std::any_of(std::begin(kWorkerNames), std::end(kWorkerNames), starts)) return ThreadSample::WORKER;
  if (is_main || std::any_of(std::begin(kOtherNames), std::end(kOtherNames), starts)) return ThreadSample::OTHER;
  return ThreadSample::LIBRARY;
}

SampleList<ThreadSample> ReadThreads() {
  struct CloseDir {
    void operator()(DIR* d) const { closedir(d); }
  };
  const std::unique_ptr<DIR, CloseDir> dir(opendir("/proc/self/task"));
  SampleList<ThreadSample> threads;
  if (dir == nullptr) return threads;
  const pid_t main_thread = getpid();
  while (const dirent* entry = readdir(dir.get())) {
    int id = 0;
    if (!absl::SimpleAtoi(entry->d_name, &id)) continue;
    const std::string directory = absl::StrCat("/proc/self/task/", id);
    const std::string name = FirstLine(directory + "/comm");
    const auto cpu = CpuTimeOfThread(directory);
    if (!cpu) continue;
    ThreadSample& thread = *threads.Add();
    thread.set_id(id);
    thread.set_group(GroupOfThread(name, id == main_thread));
    thread.set_cpu_ns(*cpu);
  }
  return threads;
}

SampleList<CpuSample> ReadCpus(const std::vector<int>& cpus) {
  const Nanos tick = kNanosPerSecond / sysconf(_SC_CLK_TCK);
  std::ifstream file("/proc/stat");
  SampleList<CpuSample> samples;
  for (std::string line; std::getline(file, line) && absl::StartsWith(line, "cpu");) {
    std::istringstream fields(line.substr(3));
    int cpu = 0;
    Nanos user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    // The first line is the sum of all and has no number.
    if (line[3] == ' ' || !(fields >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)) {
      continue;
    }
    if (!std::binary_search(cpus.begin(), cpus.end(), cpu)) continue;
    CpuSample& sample = *samples.Add();
    sample.set_cpu(cpu);
    sample.set_busy_ns((user + nice + system + irq) * tick);
    sample.set_idle_ns((idle + iowait) * tick);
    sample.set_softirq_ns(softirq * tick);
    sample.set_steal_ns(steal * tick);
  }
  return samples;
}

std::vector<int> AllowedCpus(int pid) {
  // Machines with more CPUs than a cpu_set_t holds need a larger set; the kernel says so with EINVAL.
  for (int capacity = CPU_SETSIZE; capacity <= 64 * CPU_SETSIZE; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(capacity));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    std::vector<int> cpus;
    if (sched_getaffinity(pid, bytes, set) == 0) {
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
