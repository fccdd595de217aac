#include "src/observe/control/control_client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cqbench/proto/control.grpc.pb.h"
#include "src/base/clean_text.h"
#include "src/base/last_resort.h"
#include "src/channel/channel_pool.h"
#include "src/channel/credentials.h"
#include "src/channel/poll.h"
#include "src/config/units.h"
#include "src/observe/control/plausible.h"

namespace cqbench {
namespace {

namespace pb = control::v1;

// A sample of ten thousand connections is about a megabyte.
constexpr int kMaxResponseBytes = 16 << 20;
constexpr Nanos kPatience = 2 * kNanosPerSecond;

std::shared_ptr<grpc::Channel> MakeChannel(const Target& target, const RunConfig& config,
                                           const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // never a connection that is measured
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // 1.51.1 aborts on trailers without a status
  args.SetMaxReceiveMessageSize(kMaxResponseBytes);
  BoundMemory(args);
  AddServerName(config.security, args);
  return grpc::CreateCustomChannel(target.ToString(), credentials, args);
}

// The library's blocking call says with this status, and these words, that the response had no message, or bytes that
// cannot be parsed. The status alone also means that the server has no such method.
bool IsUnreadable(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
         status.error_message() == "No message returned for unary request";
}
constexpr char kUnreadable[] = "its response is no message of the control service";

// Returns true if nothing came back; otherwise the server has answered, if only with an error.
bool IsNoResponse(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
         status.error_code() == grpc::StatusCode::UNAVAILABLE;
}

}  // namespace

struct ControlClients::Server {
  Server(const Target& target, const std::shared_ptr<grpc::Channel>& channel)
      : address(target.ToString()), stub(pb::Control::NewStub(channel)) {}

  grpc::Status Describe(ServerDescription* description) {
    grpc::ClientContext context;
    context.set_deadline(ToTimespec(NowNs() + kPatience));
    context.set_wait_for_ready(true);
    return stub->Describe(&context, pb::DescribeRequest(), description);
  }
  std::optional<ServerMoment> Sample(const std::optional<ServerSwitches>& switches) {
    grpc::ClientContext context;
    context.set_deadline(ToTimespec(NowNs() + kPatience));
    pb::SampleRequest request;
    if (switches) {
      request.mutable_switches()->set_time_calls(switches->time_calls);
      request.mutable_switches()->set_count_allocations(switches->count_allocations);
    }
    ServerMoment moment;
    moment.asked_ns = NowNs();
    const grpc::Status status = stub->Sample(&context, request, &moment.sample);
    if (IsNoResponse(status)) return std::nullopt;
    moment.received_ns = NowNs();
    if (!status.ok()) {
      moment.refused = IsUnreadable(status) ? kUnreadable : CleanText(status.error_message(), kMaxErrorBytes);
      if (moment.refused.empty()) moment.refused = absl::StrCat("it failed with status ", int{status.error_code()});
      return moment;
    }
    for (ConnectionSample& connection : *moment.sample.mutable_connections()) {
      connection.set_congestion_control(CleanName(connection.congestion_control(), kMaxErrorBytes));
    }
    moment.boot_id = boot_id;
    moment.cpus = cpus;
    const pb::CallTimes& times = moment.sample.call_times();
    for (const pb::Histogram* each : {&times.handling(), &times.finishing(), &times.parsing(), &times.serializing()}) {
      if (moment.refused.empty()) moment.refused = std::string(ValidateHistogram(*each).message());
    }
    return moment;
  }

  const std::string address;
  std::string boot_id;  // this and the next as it said of itself
  size_t cpus = 0;
  const std::unique_ptr<pb::Control::Stub> stub;
};

ControlClients::ControlClients(const RunConfig& config, std::shared_ptr<grpc::ChannelCredentials> credentials)
    : config_(config), credentials_(std::move(credentials)) {}
ControlClients::~ControlClients() = default;

const std::vector<Target>& ControlClients::Addresses(const RunConfig& config) {
  static const std::vector<Target> nowhere;
  if (!config.control.empty()) return config.control;
  return IsHttp(config.api) ? nowhere : config.targets;
}

bool ControlClients::Connect() {
  Disconnect();  // a point that failed may not have done so
  absence_.clear();
  if (given_up_) return false;
  const StepLimit limit("asking the control services",
                        static_cast<Nanos>(Addresses(config_).size()) * kPatience + StepLimit::kSlack);
  std::vector<ServerDescription> described;
  const auto known = [&](const ServerDescription& server) {
    return std::any_of(described.begin(), described.end(),
                       [&](auto& other) { return other.instance() == server.instance(); });
  };
  for (const Target& target : Addresses(config_)) {
    Server& server =
        *connected_.emplace_back(std::make_unique<Server>(target, MakeChannel(target, config_, credentials_)));
    ServerDescription description;
    const grpc::Status status = server.Describe(&description);
    if (!status.ok()) {
      NoResponse(server.address, status);
      return false;
    }
    description.set_address(server.address);
    if (const absl::Status valid = CleanAndValidate(description); !valid.ok()) {
      absence_ = absl::StrCat("server: what the control service at ", server.address, " says of itself cannot be (",
                              valid.message(), "): its own figures are absent");
      Disconnect();
      return false;
    }
    server.boot_id = description.boot_id();
    server.cpus = static_cast<size_t>(description.cpus_size());
    if (known(description)) {
      connected_.pop_back();
    } else {
      described.push_back(std::move(description));
    }
  }
  if (servers_.empty()) servers_ = std::move(described);
  return true;
}

// A server without the service will not get one. One that is too busy to answer now, or gone, may answer at the next
// point.
void ControlClients::NoResponse(const std::string& address, const grpc::Status& status) {
  if (IsUnreadable(status)) {
    absence_ = absl::StrCat("server: what the control service at ", address, " says of itself cannot be (", kUnreadable,
                            "): its own figures are absent");
  } else if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    notes_.push_back(absl::StrCat("the server at ", address,
                                  " has no control service (is it grpc_ping_server?): its own figures are absent"));
    given_up_ = true;
  } else if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    absence_ = absl::StrCat("server: the control service at ", address, " did not answer within ",
                            FormatDuration(kPatience), ": its own figures are absent");
  } else {
    absence_ = absl::StrCat("server: the control service at ", address, " cannot be asked (",
                            CleanText(status.error_message(), kMaxErrorBytes), "): its own figures are absent");
  }
  Disconnect();
}

void ControlClients::Disconnect() {
  connected_.clear();
}

std::future<ControlClients::Moments> ControlClients::SampleAll(std::optional<ServerSwitches> switches) {
  return std::async(std::launch::async, [this, switches] {
    pthread_setname_np(pthread_self(), "control");
    Moments moments;
    for (const auto& server : connected_) {
      auto moment = server->Sample(switches);
      if (!moment) return Moments();
      moments.push_back(*std::move(moment));
    }
    return moments;
  });
}

}  // namespace cqbench
