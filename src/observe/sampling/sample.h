// What a process saw of itself at one moment: running totals. What happened between two moments is the difference of
// two samples, whichever process took them; a server's come through its control service.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "src/observe/allocations/allocations.h"

namespace cqbench {

// Whose thread it is, by its name: our workers and our other threads name themselves, the rest is the library's.
enum class ThreadGroup { kWorker, kOther, kLibrary };

struct ThreadSample {
  int id = 0;
  ThreadGroup group = ThreadGroup::kLibrary;
  Nanos cpu_ns = 0;  // user and system
};

struct ProcessSample {
  Nanos user_ns = 0;
  Nanos system_ns = 0;
  uint64_t voluntary_switches = 0;  // of all threads, those that have ended included
  uint64_t involuntary_switches = 0;
  uint64_t minor_faults = 0;
  uint64_t major_faults = 0;
  uint64_t rss_bytes = 0;
  uint64_t peak_rss_bytes = 0;
};

// One line of /proc/stat. Kernel ticks, so multiples of 10 ms.
struct CpuSample {
  int cpu = 0;
  Nanos busy_ns = 0;  // user, nice, system, guests and interrupts, whichever process
  Nanos idle_ns = 0;  // with waiting for disks
  Nanos softirq_ns = 0;
  Nanos steal_ns = 0;  // taken by the hypervisor
};

// One TCP connection from one end (TCP_INFO).
struct ConnectionSample {
  uint64_t id = 0;  // the socket's inode: unlike a descriptor never reused while the socket lives
  Nanos taken_at_ns = 0;
  Nanos busy_ns = 0;           // had unacknowledged data; the kernel counts it in ticks of its timer (1 to 10 ms)
  uint64_t segments_sent = 0;  // with data; a batch handed over at once counts as what goes out at the segment size
  uint64_t segments_received = 0;
  uint64_t bytes_sent = 0;  // payload, acknowledged
  uint64_t bytes_received = 0;
  uint64_t retransmissions = 0;
  Nanos rtt_smoothed_ns = 0;
  Nanos rtt_min_ns = 0;
  bool no_delay = false;
  std::string congestion_control;
};

struct Sample {
  Nanos taken_at_ns = 0;  // this process's CLOCK_MONOTONIC
  ProcessSample process;
  std::vector<ThreadSample> threads;
  std::vector<CpuSample> cpus;  // those that the process may run on
  std::vector<ConnectionSample> connections;
  int unix_connections = 0;                     // for which the kernel keeps none of the above
  std::optional<AllocationCounts> allocations;  // in counting programs only

  uint64_t messages = 0;  // answered; of a client that counts allocations: calls completed

  // Servers only.
  std::optional<int64_t> posted_requests;
  std::vector<uint64_t> messages_per_queue;  // empty where the library has the queues
};

}  // namespace cqbench
