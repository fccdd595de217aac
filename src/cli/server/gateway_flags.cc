#include "src/cli/server/gateway_flags.h"

namespace cqbench {
namespace {

constexpr int kDefaultHttpPort = 8080;
constexpr int kDefaultGrpcPort = 2137;

Target TargetOf(const std::string& flag, const std::string& text, int default_port) {
  auto target = ParseTarget(text, default_port);
  if (!target.ok()) BadCombination(flag, std::string(target.status().message()));
  if (target->is_unix()) BadCombination(flag, absl::StrCat("'", text, "' is a Unix socket; accepted is HOST:PORT"));
  return *std::move(target);
}

}  // namespace

GatewayFlags::GatewayFlags(CLI::App& app) {
  http_ = app.add_option("--http", http_text_,
                         "also take the library's methods over HTTP and JSON there, HTTP/1.1 and HTTP/2 (h2c) on one "
                         "port: HOST:PORT, port 0: a free one")
              ->type_name("ADDRESS");
  threads_ = AddNumber(app, "--http-threads", config_.threads, 1, 1024, "event loops of --http, a thread each");
  transcoder_ = AddEnum(app, "--transcoder", config_.transcoder,
                        {TranscoderKind::kDescriptor, TranscoderKind::kHandwritten, TranscoderKind::kNone},
                        "what makes messages of HTTP requests. descriptor: the methods' google.api.http rules, as read "
                        "from their descriptors; handwritten: code for each method; none: nothing, every request is "
                        "answered with the same book, which is the floor");
  backend_ = AddEnum(app, "--backend", config_.backend,
                     {BackendKind::kDirect, BackendKind::kInProcess, BackendKind::kLoopback},
                     "what answers the messages. direct: the handlers, on the threads of --http; inprocess: the gRPC "
                     "server, through a channel without a socket, which has no streams; loopback: through channels "
                     "over TCP, as in a proxy");
  target_ = app.add_option("--backend-target", target_text_,
                           "with --backend loopback: another gRPC server that has the library")
                ->type_name("HOST:PORT");
  channels_ = AddNumber(app, "--backend-channels", config_.channels, 1, 10'000,
                        "with --backend loopback: channels, taken in turn");
  policy_ = app.add_option("--backend-channel-policy", policy_text_,
                           "with --backend loopback: what connections these have: shared, per-slot, distinct-args, "
                           "local-pool or pool:N, as the client's --channel-policy, a channel standing for a slot")
                ->capture_default_str()
                ->type_name("POLICY");
  deadline_ = AddDuration(app, "--backend-deadline", config_.deadline_ns,
                          "of each call, with --backend inprocess and loopback; a stream's, too");
}

std::optional<GatewayConfig> GatewayFlags::Resolve(MessageHolder messages) const {
  if (!given()) {
    for (const CLI::Option* option : {threads_, transcoder_, backend_, target_, channels_, policy_, deadline_}) {
      if (option->count() > 0) BadCombination(option->get_name(), "needs --http");
    }
    return std::nullopt;
  }
  GatewayConfig config = Given();
  config.messages = messages;
  return config;
}

GatewayConfig GatewayFlags::Given() const {
  GatewayConfig config = config_;
  config.listen = TargetOf("--http", http_text_, kDefaultHttpPort);
  if (config.transcoder == TranscoderKind::kNone && backend_->count() > 0) {
    BadCombination("--backend", "answers nothing with --transcoder none");
  }
  for (const CLI::Option* option : {target_, channels_, policy_}) {
    if (option->count() > 0 && config.backend != BackendKind::kLoopback) {
      BadCombination(option->get_name(), absl::StrCat("needs --backend loopback, not ", ToString(config.backend)));
    }
  }
  if (deadline_->count() > 0 && config.backend == BackendKind::kDirect) {
    BadCombination("--backend-deadline", "needs --backend inprocess or loopback, not direct");
  }
  if (target_->count() > 0) config.target = TargetOf("--backend-target", target_text_, kDefaultGrpcPort);
  auto policy = ParseChannelPolicy(policy_text_);
  if (!policy.ok()) BadCombination("--backend-channel-policy", std::string(policy.status().message()));
  config.policy = *policy;
  return config;
}

}  // namespace cqbench
