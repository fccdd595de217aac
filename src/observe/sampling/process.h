// This process and the CPUs that it runs on: what they used, what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "src/observe/sampling/sample.h"

namespace cqbench {

// Any thread. A field that the kernel does not give is 0.
ProcessSample ReadProcess();
// The CPU time and memory of another process of this machine, the rest 0. Absent when there is none. The time is exact,
// how much of it is user and how much system is by the kernel's ticks.
std::optional<ProcessSample> ReadProcess(int pid);
// The threads that live now, with their CPU time in nanoseconds (/proc/self/task). Some microseconds per thread.
SampleList<ThreadSample> ReadThreads();
// The given CPUs' lines of /proc/stat. `cpus` is ascending.
SampleList<CpuSample> ReadCpus(const std::vector<int>& cpus);

// How the project's own threads are told from the library's. Names of workers start with one of kWorkerNames.
ThreadSample::Group GroupOfThread(const std::string& name, bool is_main);

// The CPUs that the calling thread may run on, ascending. Threads inherit the mask, so before threads have been started
// with masks of their own this is the process's. Or those of another process.
std::vector<int> AllowedCpus(int pid = 0);
// "0-3,8".
std::string FormatCpuList(const std::vector<int>& cpus);

// Raises the soft limit on open descriptors to the hard one and returns what may be open then.
uint64_t RaiseDescriptorLimit();

}  // namespace cqbench
