#include "src/base/machine.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>

namespace cqbench {
namespace {

Nanos ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

uint64_t ReadKiB(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    uint64_t value = 0;
    if (word == key && file >> value) return value << 10;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

void Take(MemoryLeft& left, uint64_t bytes, const char* limit) {
  if (bytes < left.bytes) left = {bytes, limit};
}

}  // namespace

// The least of a few: between the two looks the thread may have waited for a CPU, which is no sleep.
Nanos SleptNs() {
  Nanos least = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const Nanos up = ReadClock(CLOCK_MONOTONIC);
    least = std::min(least, ReadClock(CLOCK_BOOTTIME) - up);
  }
  return least;
}

MemoryLeft FindMemoryLeft() {
  MemoryLeft left;
  if (const uint64_t available = ReadKiB("/proc/meminfo", "MemAvailable:")) {
    Take(left, available, "MemAvailable of /proc/meminfo");
  }
  // A container's; where it is not the root of what it sees, its limit is not known here.
  uint64_t most = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> most) Take(left, most, "memory.max of the control group");
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const uint64_t used = ReadKiB("/proc/self/status", "VmSize:");
    Take(left, space.rlim_cur - std::min<uint64_t>(used, space.rlim_cur), "ulimit -v");
  }
  return left;
}

}  // namespace cqbench
