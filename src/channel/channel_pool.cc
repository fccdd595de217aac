#include "src/channel/channel_pool.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/machine.h"
#include "src/channel/channel_args.h"
#include "src/channel/compression.h"
#include "src/channel/credentials.h"
#include "src/channel/poll.h"
#include "src/config/units.h"

namespace cqbench {
namespace {

grpc::ChannelArguments Arguments(const RunConfig& config, const ChannelPlan::Channel& channel) {
  grpc::ChannelArguments args = ChannelArguments(config);
  if (channel.local_pool) args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (channel.distinguishing_value >= 0) args.SetInt("cqbench.channel", channel.distinguishing_value);
  return args;
}

enum class Wait { kReady, kStopped, kHopeless, kTimeout };

Wait WaitUntilReady(grpc::Channel& channel, const Target& target, Nanos give_up_at, const ConnectHooks& hooks) {
  for (;;) {
    if (hooks.stop && hooks.stop()) return Wait::kStopped;
    const Nanos until = std::min(give_up_at, NowNs() + 100 * kNanosPerMilli);
    if (channel.WaitForConnected(ToTimespec(until))) return Wait::kReady;
    const bool failed = channel.GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_TRANSIENT_FAILURE;
    if (failed && hooks.hopeless && hooks.hopeless(target)) return Wait::kHopeless;
    if (until >= give_up_at) return Wait::kTimeout;
  }
}

}  // namespace

void BoundMemory(grpc::ChannelArguments& args) {
  // One for all: it is part of what makes channels share a connection.
  static const grpc::ResourceQuota& quota = []() -> grpc::ResourceQuota& {
    auto& made = *new grpc::ResourceQuota("cqbench");  // channels may outlive every static object
    constexpr uint64_t kLeast = 64u << 20, kMost = uint64_t{1} << 40;
    return made.Resize(static_cast<size_t>(std::clamp(FindMemoryLeft().bytes / 2, kLeast, kMost)));
  }();
  args.SetResourceQuota(quota);
}

grpc::ChannelArguments ChannelArguments(const RunConfig& config) {
  grpc::ChannelArguments args;
  BoundMemory(args);
  // A proxy from the environment would be measured instead of the server; --channel-arg can switch it on again.
  if (!IsGiven(config.channel_args, GRPC_ARG_ENABLE_HTTP_PROXY)) args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  AddServerName(config.security, args);
  const bool any_size = config.call != nullptr || config.method.has_payload;
  if (any_size && !IsGiven(config.channel_args, GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH)) {
    args.SetMaxReceiveMessageSize(kMaxPayloadBytes + 1024);
  }
  const ClientCompression& compression = config.compression;
  if (compression.algorithm != Compression::kNone && !compression.per_call) {
    args.SetCompressionAlgorithm(AlgorithmOf(compression.algorithm));
  }
  for (const ChannelArg& arg : config.channel_args) {
    if (const int* number = std::get_if<int>(&arg.value)) {
      args.SetInt(arg.key, *number);
    } else {
      args.SetString(arg.key, std::get<std::string>(arg.value));
    }
  }
  if (!config.service_config.empty()) args.SetServiceConfigJSON(config.service_config);
  return args;
}

absl::StatusOr<ChannelPool> ChannelPool::Connect(const RunConfig& config, const ChannelPlan& plan,
                                                 const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                                 const ConnectHooks& hooks) {
  ChannelPool pool;
  for (const ChannelPlan::Channel& channel : plan.channels) {
    const Target& target = config.targets[static_cast<size_t>(channel.host)];
    pool.channels_.push_back(grpc::CreateCustomChannel(target.ToString(), credentials, Arguments(config, channel)));
    pool.channels_.back()->GetState(/*try_to_connect=*/true);  // all at once, then wait for each
  }
  const Nanos give_up_at = NowNs() + config.connect_timeout_ns;
  for (int i = 0; i < pool.size(); ++i) {
    const Target& target = config.targets[static_cast<size_t>(plan.channels[static_cast<size_t>(i)].host)];
    const Wait end = WaitUntilReady(*pool[i], target, give_up_at, hooks);
    if (end == Wait::kReady) continue;
    if (end == Wait::kStopped) return absl::CancelledError("interrupted while connecting");
    const std::string within =
        end == Wait::kTimeout ? absl::StrCat(" within ", FormatDuration(config.connect_timeout_ns)) : "";
    const std::string reason = hooks.reason ? absl::StrCat(" (", hooks.reason(target), ")") : "";
    return absl::UnavailableError(absl::StrCat("cannot connect to ", target.ToString(), within, reason));
  }
  return pool;
}

}  // namespace cqbench
