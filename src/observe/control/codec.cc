#include "src/observe/control/codec.h"

#include <algorithm>

namespace cqbench {
namespace {

namespace v1 = control::v1;

v1::Thread::Group ToProto(ThreadGroup group) {
  switch (group) {
    case ThreadGroup::kWorker:
      return v1::Thread::WORKER;
    case ThreadGroup::kOther:
      return v1::Thread::OTHER;
    case ThreadGroup::kLibrary:
      break;
  }
  return v1::Thread::LIBRARY;
}

ThreadGroup FromProto(v1::Thread::Group group) {
  if (group == v1::Thread::WORKER) return ThreadGroup::kWorker;
  return group == v1::Thread::OTHER ? ThreadGroup::kOther : ThreadGroup::kLibrary;
}

void ToProto(const ProcessSample& p, v1::Process& message) {
  message.set_user_ns(p.user_ns);
  message.set_system_ns(p.system_ns);
  message.set_voluntary_switches(p.voluntary_switches);
  message.set_involuntary_switches(p.involuntary_switches);
  message.set_minor_faults(p.minor_faults);
  message.set_major_faults(p.major_faults);
  message.set_rss_bytes(p.rss_bytes);
  message.set_peak_rss_bytes(p.peak_rss_bytes);
}

ProcessSample FromProto(const v1::Process& message) {
  return {message.user_ns(),      message.system_ns(),    message.voluntary_switches(), message.involuntary_switches(),
          message.minor_faults(), message.major_faults(), message.rss_bytes(),          message.peak_rss_bytes()};
}

void ToProto(const ConnectionSample& c, v1::Connection& message) {
  message.set_id(c.id);
  message.set_taken_at_ns(c.taken_at_ns);
  message.set_busy_ns(c.busy_ns);
  message.set_segments_sent(c.segments_sent);
  message.set_segments_received(c.segments_received);
  message.set_bytes_sent(c.bytes_sent);
  message.set_bytes_received(c.bytes_received);
  message.set_retransmissions(c.retransmissions);
  message.set_rtt_smoothed_ns(c.rtt_smoothed_ns);
  message.set_rtt_min_ns(c.rtt_min_ns);
  message.set_no_delay(c.no_delay);
  message.set_congestion_control(c.congestion_control);
}

ConnectionSample FromProto(const v1::Connection& m) {
  return {m.id(),         m.taken_at_ns(),       m.busy_ns(),         m.segments_sent(),   m.segments_received(),
          m.bytes_sent(), m.bytes_received(),    m.retransmissions(), m.rtt_smoothed_ns(), m.rtt_min_ns(),
          m.no_delay(),   m.congestion_control()};
}

}  // namespace

void ToProto(const Sample& sample, v1::ServerSample& message) {
  message.set_taken_at_ns(sample.taken_at_ns);
  ToProto(sample.process, *message.mutable_process());
  for (const ThreadSample& thread : sample.threads) {
    v1::Thread& into = *message.add_threads();
    into.set_id(thread.id);
    into.set_group(ToProto(thread.group));
    into.set_cpu_ns(thread.cpu_ns);
  }
  for (const CpuSample& cpu : sample.cpus) {
    v1::Cpu& into = *message.add_cpus();
    into.set_cpu(cpu.cpu);
    into.set_busy_ns(cpu.busy_ns);
    into.set_idle_ns(cpu.idle_ns);
    into.set_softirq_ns(cpu.softirq_ns);
    into.set_steal_ns(cpu.steal_ns);
  }
  for (const ConnectionSample& connection : sample.connections) ToProto(connection, *message.add_connections());
  message.set_unix_connections(static_cast<uint32_t>(sample.unix_connections));
  if (sample.allocations) {
    message.mutable_allocations()->set_allocations(sample.allocations->allocations);
    message.mutable_allocations()->set_bytes(sample.allocations->bytes);
    message.mutable_allocations()->set_freed_elsewhere(sample.allocations->freed_elsewhere);
  }
  message.set_messages(sample.messages);
  if (sample.posted_requests) message.set_posted_requests(*sample.posted_requests);
  for (uint64_t count : sample.messages_per_queue) message.add_messages_per_queue(count);
}

Sample FromProto(const v1::ServerSample& message) {
  Sample sample;
  sample.taken_at_ns = message.taken_at_ns();
  sample.process = FromProto(message.process());
  for (const v1::Thread& t : message.threads()) sample.threads.push_back({t.id(), FromProto(t.group()), t.cpu_ns()});
  for (const v1::Cpu& c : message.cpus()) {
    sample.cpus.push_back({c.cpu(), c.busy_ns(), c.idle_ns(), c.softirq_ns(), c.steal_ns()});
  }
  for (const v1::Connection& c : message.connections()) sample.connections.push_back(FromProto(c));
  sample.unix_connections = static_cast<int>(message.unix_connections());
  if (message.has_allocations()) {
    const v1::Allocations& counts = message.allocations();
    sample.allocations = AllocationCounts{counts.allocations(), counts.bytes(), counts.freed_elsewhere()};
  }
  sample.messages = message.messages();
  if (message.has_posted_requests()) sample.posted_requests = message.posted_requests();
  sample.messages_per_queue.assign(message.messages_per_queue().begin(), message.messages_per_queue().end());
  return sample;
}

void ToProto(const Histogram& histogram, v1::Histogram& message) {
  histogram.ForEach([&](Nanos value, uint64_t count) {
    message.add_value_ns(value);
    message.add_count(count);
  });
}

Histogram FromProto(const v1::Histogram& message) {
  Histogram histogram;
  for (int i = 0; i < std::min(message.value_ns_size(), message.count_size()); ++i) {
    if (message.count(i) > 0) histogram.Record(message.value_ns(i), message.count(i));
  }
  return histogram;
}

}  // namespace cqbench
