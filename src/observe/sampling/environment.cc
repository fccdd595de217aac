#include "src/observe/sampling/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "absl/base/config.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "src/observe/sampling/process.h"

namespace cqbench {
namespace {

// The value of the first "key : value" line of /proc/cpuinfo.
std::string CpuInfo(absl::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, key)) continue;
    if (const size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::optional<double> MhzPerCpu() {
  double mhz = 0;
  if (absl::SimpleAtod(CpuInfo("cpu MHz"), &mhz)) return mhz;
  return std::nullopt;
}

// The same as in Google Benchmark: any governor other than "performance" means that the clock may change under the
// measurement.
std::optional<bool> CpuScalingEnabled(const std::vector<int>& cpus) {
  std::optional<bool> scaling;
  for (int cpu : cpus) {
    std::ifstream file(absl::StrCat("/sys/devices/system/cpu/cpu", cpu, "/cpufreq/scaling_governor"));
    std::string governor;
    if (!(file >> governor)) continue;
    scaling = scaling.value_or(false) || governor != "performance";
  }
  return scaling;
}

std::string FirstWord(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::string BuildType() {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
  return "asan";
#elif defined(ABSL_HAVE_THREAD_SANITIZER)
  return "tsan";
#elif defined(NDEBUG)
  return "release";
#else
  return "debug";
#endif
}

}  // namespace

std::string LocalTime() {
  return absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::LocalTimeZone());
}

std::string BootId() {
  return FirstWord("/proc/sys/kernel/random/boot_id");
}

std::string Compiler() {
#if defined(__clang__)
  return absl::StrCat("clang ", __VERSION__);
#else
  return absl::StrCat("g++ ", __VERSION__);
#endif
}

Environment DescribeEnvironment(int argc, const char* const* argv) {
  Environment environment;
  environment.date = LocalTime();
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) == 0) environment.host_name = name;
  environment.executable = argc > 0 ? argv[0] : "";
  environment.command_line.assign(argv, argv + argc);
  environment.num_cpus = static_cast<int>(std::thread::hardware_concurrency());
  if (const long online = sysconf(_SC_NPROCESSORS_ONLN); online > 0) environment.num_cpus = static_cast<int>(online);
  const std::vector<int> cpus = AllowedCpus();
  environment.affinity = FormatCpuList(cpus);
  environment.cpu_model = CpuInfo("model name");
  environment.mhz_per_cpu = MhzPerCpu();
  environment.cpu_scaling_enabled = CpuScalingEnabled(cpus);
  double load[3];
  for (int i = 0, n = getloadavg(load, 3); i < n; ++i) environment.load_average.push_back(load[i]);
  utsname kernel{};
  if (uname(&kernel) == 0) environment.kernel = absl::StrCat(kernel.sysname, " ", kernel.release, " ", kernel.machine);
  environment.compiler = Compiler();
  environment.build_type = BuildType();
  environment.boot_id = BootId();
  environment.clock_source = FirstWord("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  environment.cqbench_version = CQBENCH_VERSION;
  return environment;
}

}  // namespace cqbench
