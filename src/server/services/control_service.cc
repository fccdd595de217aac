#include "src/server/services/control_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/observe/allocations/allocations.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/process.h"
#include "src/observe/sampling/take_sample.h"
#include "src/result/histogram_message.h"
#include "src/server/services/service_times.h"

namespace cqbench {
namespace {

namespace v1 = control::v1;

// "ipv4:127.0.0.1:40000", "ipv6:[::1]:40000", "ipv6:%5B::1%5D:40000": spelled differently between releases.
bool Names(const std::string& peer, const OpenConnection& connection) {
  return connection.is_tcp && absl::EndsWith(peer, absl::StrCat(":", connection.peer_port)) &&
         absl::StrContains(peer, connection.peer_host);
}

int PortOf(const std::string& peer) {
  int port = 0;
  return absl::SimpleAtoi(absl::string_view(peer).substr(peer.rfind(':') + 1), &port) ? port : 0;
}

void DescribeMachine(v1::ServerDescription& response) {
  const Environment machine = DescribeEnvironment(0, nullptr);
  response.set_cqbench_version(machine.cqbench_version);
  response.set_build_type(machine.build_type);
  response.set_compiler(machine.compiler);
  response.set_cpu_model(machine.cpu_model);
  response.set_kernel(machine.kernel);
  response.set_clock_source(machine.clock_source);
  response.set_boot_id(machine.boot_id);
  if (machine.cpu_scaling_enabled) response.set_cpu_scaling_enabled(*machine.cpu_scaling_enabled);
  for (const int cpu : AllowedCpus()) response.add_cpus(cpu);
}

}  // namespace

grpc::Status ControlBackend::NotYet() const {
  return {grpc::StatusCode::UNAVAILABLE, "the server is starting or ending"};
}

grpc::Status ControlBackend::Describe(v1::ServerDescription& response) const {
  if (!open_.load(std::memory_order_acquire)) return NotYet();
  DescribeMachine(response);
  response.set_instance(instance_);
  response.set_grpc_version(grpc::Version());
  response.set_grpc_link(grpc_build_.link);
  if (grpc_build_.assertions) response.set_grpc_assertions(*grpc_build_.assertions);
  response.set_api(std::string(ToString(config_.api)));
  response.set_messages(std::string(ToString(config_.messages)));
  if (config_.write_hint != WriteHint::kNone) response.set_write_hint(std::string(ToString(config_.write_hint)));
  if (std::string note = server_.MessagesNote(); !note.empty()) response.set_messages_note(std::move(note));
  if (config_.serializer != Serializer::kProtobuf) response.set_serializer(std::string(ToString(config_.serializer)));
  if (config_.compression != Compression::kNone) response.set_compression(std::string(ToString(config_.compression)));
  if (config_.api != ServerApi::kCallback) {
    response.set_num_cqs(config_.num_cqs);
    response.set_workers_per_cq(config_.workers_per_cq);
  }
  if (server_.PostedRequests()) {
    response.set_poll(std::string(ToString(config_.poll)));
    response.set_callbacks_per_cq(config_.callbacks_per_cq);
  }
  for (const ChannelArg& arg : config_.channel_args) {
    const int* number = std::get_if<int>(&arg.value);
    response.add_channel_args(
        absl::StrCat(arg.key, "=", number ? absl::StrCat(*number) : std::get<std::string>(arg.value)));
  }
  if (const Security& security = config_.security; security.tls) {
    response.set_security(security.ca.name.empty() ? "tls" : "mutual-tls");
    response.set_tls_min_version(std::string(ToString(security.min_version)));
    if (std::string ciphers = CipherList(security); !ciphers.empty()) response.set_tls_ciphers(std::move(ciphers));
  }
  if (const ServiceTimeConfig& time = config_.service_time; time.mean_ns > 0) {
    response.set_service_time_ns(static_cast<double>(time.mean_ns));
    response.set_service_time_distribution(time.exponential ? "exponential" : "constant");
    response.set_service_time_mode(time.wait ? "wait" : "burn");
  }
  response.set_deadlock_detection(config_.deadlock_detection);
  for (const Target& target : server_.listening()) response.add_listening(target.ToString());
  for (const Target& target : server_.http_front_ends()) response.add_http_front_ends(target.ToString());
  if (config_.tcp_echo_port.value_or(0) > 0) response.set_tcp_echo_port(*config_.tcp_echo_port);
  response.set_counts_allocations(CanCountAllocations());
  return grpc::Status::OK;
}

grpc::Status ControlBackend::Sample(const std::string& peer, const v1::SampleRequest& request, v1::Sample& response) {
  if (!open_.load(std::memory_order_acquire)) return NotYet();
  const CallLimit::Call call(samples_);
  if (!call.allowed() || !budget_.Allows(NowNs())) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many samples at once"};
  }
  const SampleCost cost(budget_);
  // Allocations are counted from the end of one sample to the beginning of the next, so that none made here counts; the
  // same holds for the messages that belong to them. Both are read right next to the switch.
  const uint64_t messages_before = server_.Messages();
  const bool counting = SetCountingAllocations(false);
  const AllocationCounts allocations = CountedAllocations();
  if (counting) AddCountedCalls(messages_before - counted_from_.exchange(messages_before));
  response = TakeSample(MeasuredConnections(peer));
  if (CanCountAllocations()) SetCounts(allocations, response);
  response.set_messages(counting ? messages_before : server_.Messages());
  for (const uint64_t messages : server_.MessagesPerQueue()) response.add_messages_per_queue(messages);
  if (const auto posted = server_.PostedRequests()) response.set_posted_requests(*posted);
  ServiceTimes& times = server_.times();
  if (times.on()) {
    ToMessage(times.handling().Snapshot(), *response.mutable_call_times()->mutable_handling());
    ToMessage(times.finishing().Snapshot(), *response.mutable_call_times()->mutable_finishing());
    ToMessage(times.serializer().parse().Snapshot(), *response.mutable_call_times()->mutable_parsing());
    ToMessage(times.serializer().serialize().Snapshot(), *response.mutable_call_times()->mutable_serializing());
  }
  if (request.has_switches()) {
    times.Switch(request.switches().time_calls());
    // Messages that came while the sample was written down are not counted: counting begins after them.
    if (request.switches().count_allocations()) {
      counted_from_.store(server_.Messages());
      response.set_messages(counted_from_.load());
    }
    SetCountingAllocations(request.switches().count_allocations());
  } else if (counting) {
    SetCountingAllocations(true);
  }
  return grpc::Status::OK;
}

// Several clients may have a control connection each. The port of one that has gone may come back as a measured one, so
// those are forgotten.
std::vector<OpenConnection> ControlBackend::MeasuredConnections(const std::string& peer) {
  std::vector<Target> addresses = server_.http_front_ends();
  const bool passes_on = !addresses.empty();
  addresses.insert(addresses.end(), server_.listening().begin(), server_.listening().end());
  auto connections = FindAccepted(addresses);
  if (!connections) return {};
  // A front end may pass calls on to this server over a socket: the client's connections are those to the front end.
  if (passes_on) RemoveOwn(*connections);
  const std::lock_guard lock(mutex_);
  control_peers_.insert(peer);
  // Each is compared with those of its port alone: with thousands of them all against all took half a second.
  std::multimap<int, const std::string*> by_port;
  for (const std::string& control : control_peers_) by_port.emplace(PortOf(control), &control);
  std::set<std::string> alive;
  std::erase_if(*connections, [&](const OpenConnection& connection) {
    const auto [begin, end] = by_port.equal_range(connection.peer_port);
    const auto named = std::find_if(begin, end, [&](const auto& each) { return Names(*each.second, connection); });
    if (named == end) return false;
    alive.insert(*named->second);
    return true;
  });
  control_peers_ = std::move(alive);
  return *std::move(connections);
}

}  // namespace cqbench
