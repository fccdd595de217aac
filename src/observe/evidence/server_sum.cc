#include "src/observe/evidence/server_sum.h"

#include <algorithm>
#include <cstdlib>

namespace cqbench {
namespace {

// Adds each number of a message to the same number of another one.
void AddNumbers(const google::protobuf::Message& from, google::protobuf::Message& into) {
  using google::protobuf::FieldDescriptor;
  const auto& reflection = *from.GetReflection();
  const auto& type = *from.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* const field = type.field(i);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      reflection.SetInt64(&into, field, reflection.GetInt64(into, field) + reflection.GetInt64(from, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      reflection.SetUInt64(&into, field, reflection.GetUInt64(into, field) + reflection.GetUInt64(from, field));
    }
  }
}

// The samples of several servers become one, with identities kept apart. Servers on one machine share its CPUs;
// `machine` is the number of the first server on it.
void Append(const Sample& from, uint64_t server, uint64_t machine, Sample& into) {
  if (server == 0) into.set_taken_at_ns(from.taken_at_ns());
  AddNumbers(from.process(), *into.mutable_process());
  for (const ThreadSample& thread : from.threads()) {
    ThreadSample& copy = *into.add_threads() = thread;
    copy.set_id(thread.id() + static_cast<int>(server * kThreadIds));
  }
  for (const CpuSample& cpu : from.cpus()) {
    const int number = cpu.cpu() + static_cast<int>(machine) * kCpuIds;
    const auto same = [&](const CpuSample& other) { return other.cpu() == number; };
    if (std::any_of(into.cpus().begin(), into.cpus().end(), same)) continue;
    CpuSample& copy = *into.add_cpus() = cpu;
    copy.set_cpu(number);
  }
  for (const ConnectionSample& connection : from.connections()) {
    ConnectionSample& copy = *into.add_connections() = connection;
    copy.set_id(connection.id() + server * kConnectionIds);
  }
  into.set_unix_connections(into.unix_connections() + from.unix_connections());
  if (from.has_allocations()) AddNumbers(from.allocations(), *into.mutable_allocations());
  into.set_messages(into.messages() + from.messages());
  if (from.has_posted_requests()) into.set_posted_requests(into.posted_requests() + from.posted_requests());
  into.mutable_messages_per_queue()->MergeFrom(from.messages_per_queue());
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
