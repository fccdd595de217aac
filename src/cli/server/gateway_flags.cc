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
                         "Address to serve the library workload over HTTP/1.1 and h2c with JSON; port 0: a free one.")
              ->type_name("ADDRESS");
  threads_ = AddNumber(app, "--http-threads", config_.threads, 1, 1024, "Event loops of --http, one thread each.");
  transcoder_ = AddEnum(app, "--transcoder", config_.transcoder,
                        "Transcoder of --http: google.api.http rules, code per method, or none and a fixed response.");
  backend_ = AddEnum(app, "--backend", config_.backend,
                     "Backend of --http: handlers, in-process gRPC, or gRPC over TCP as in a proxy.");
  target_ = app.add_option("--backend-target", target_text_,
                           "Address of another gRPC server with the library workload, for --backend loopback.")
                ->type_name("HOST:PORT");
  channels_ = AddNumber(app, "--backend-channels", config_.channels, 1, 10'000,
                        "Number of channels of --backend loopback, used in turn.");
  policy_ = app.add_option("--backend-channel-policy", policy_text_,
                           "Channel policy of --backend loopback, as the client's --channel-policy.")
                ->capture_default_str()
                ->type_name("POLICY");
  deadline_ = AddDuration(app, "--backend-deadline", config_.deadline_ns,
                          "Deadline of each call of --backend inprocess or loopback.");
}

std::optional<GatewayConfig> GatewayFlags::Resolve(MessageStrategy messages) const {
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
    BadCombination("--backend", "not together with --transcoder none, which responds without a backend");
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
