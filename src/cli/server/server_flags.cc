#include "src/cli/server/server_flags.h"

#include "src/cli/flags/call_flags.h"
#include "src/cli/flags/help.h"
#include "src/cli/flags/tls_flags.h"
#include "src/cli/flags/wire_flags.h"
#include "src/cli/server/gateway_flags.h"
#include "src/cli/server/limit_flags.h"
#include "src/config/validate.h"

namespace cqbench {
namespace {

// The flags as typed. ServerConfig has their meaning.
struct ServerTyped {
  std::string host_name = "localhost";
  int port = 2137;
  int tcp_echo_port = -1;  // below 0: help shows no default
  std::vector<std::string> listen;
  std::string service_distribution = "constant";
  std::string service_mode = "burn";
};

class ServerFlags {
 public:
  ServerFlags()
      : app_("Serves the methods of all workloads through one of gRPC's server APIs, and the library over HTTP.",
             "grpc_ping_server") {
    SetUpHelp(app_, [] { return VersionLine("grpc_ping_server"); },
              {"--host", "--port", "--api", "--num-cqs", "--workers-per-cq", "--callbacks-per-cq", "--messages",
               "--service-time", "--tcp-echo-port", "--http"});
    BeginGroup(app_, "Address");
    host_ = app_.add_option("--host", typed_.host_name,
                            "Listening address; the default is reachable from this machine only.")
                ->capture_default_str();
    port_ = AddNumber(app_, "--port", typed_.port, 0, 65535, "Listening port; 0: a free one.");
    listen_ = app_.add_option("--listen", typed_.listen,
                              "Full listening address: HOST:PORT, [V6]:PORT or unix:PATH; repeatable.")
                  ->type_name("ADDRESS")
                  ->expected(1)
                  ->take_all();
    listen_->excludes(host_);
    listen_->excludes(port_);
    BeginGroup(app_, "TLS");
    tls_flags_.emplace(app_, config_.security, TlsEnd::kServer);
    BeginGroup(app_, "Handling");
    api_option_ = AddEnum(app_, "--api", config_.api,
                          "Server API: completion queues, reactors, thread pool, or queues with byte buffers.");
    num_cqs_ = AddNumber(app_, "--num-cqs", config_.num_cqs, 1, 1024, "Number of completion queues.");
    workers_ = AddNumber(app_, "--workers-per-cq", config_.workers_per_cq, 1, 1024, "Threads per completion queue.");
    callbacks_ = AddNumber(app_, "--callbacks-per-cq", config_.callbacks_per_cq, 1, 100'000,
                           "Posted requests per completion queue and method.");
    messages_ = AddEnum(app_, "--messages", config_.messages,
                        "Message allocation: new per call, reused, on a reset arena, or unparsed bytes.");
    serializer_ = AddEnum(app_, "--serializer", config_.serializer,
                          "Serializer: protobuf's, or one that reuses buffers (needs --api generic).");
    AddEnum(app_, "--poll", config_.poll, "Polling by completion-queue threads; spin needs --api cq or generic.",
            {PollMode::kBlock, PollMode::kSpin});
    AddDuration(app_, "--service-time", config_.service_time.mean_ns, "Time spent in the handler on every message.",
                /*min_ns=*/0);
    distribution_ = AddChoice(app_, "--service-time-distribution", typed_.service_distribution,
                              {"constant", "exponential"}, "Distribution of --service-time.");
    service_mode_ = AddChoice(app_, "--service-time-mode", typed_.service_mode, {"burn", "wait"},
                              "Spend --service-time by using CPU or by sleeping.");
    AddEnum(app_, "--write-hint", config_.write_hint, "Write option of server streams: none or buffer hint.",
            {WriteHint::kNone, WriteHint::kBuffer});
    tcp_echo_ = AddNumber(app_, "--tcp-echo-port", typed_.tcp_echo_port, 0, 65535,
                          "Port for raw TCP ping-pong, for the client's --lower-bound; 0: a free one.");
    BeginGroup(app_, "HTTP");
    gateway_flags_.emplace(app_);
    BeginGroup(app_, "Own method");
    call_.emplace(app_, options_.call, "Method of your own to serve with --api generic; needs --proto or --protoset.");
    call_
        ->Needs(app_.add_option("--response", options_.call.data,
                                "Response of --call as JSON, or @FILE; several for a server stream."))
        ->type_name("JSON|@FILE")
        ->capture_default_str();
    BeginGroup(app_, "Limits");
    max_threads_ = AddLimits(app_, config_.limits);
    BeginGroup(app_, "Other");
    AddDeadlockDetection(app_, options_.deadlock_detection);
    AddChannelArgs(app_, config_.channel_args);
    wire_flags_.emplace(app_, config_);
    allocation_flags_.emplace(app_, options_.allocations, "grpc_ping_server");
    AddDuration(app_, "--drain", config_.drain_ns,
                "Time limit for calls after SIGINT or SIGTERM; the server ends at most 1 s later.");
  }
  ServerFlags(const ServerFlags&) = delete;
  ServerFlags& operator=(const ServerFlags&) = delete;

  // Once.
  Parsed<ServerOptions> Parse(int argc, const char* const* argv) {
    return ParseCommandLine<ServerOptions>(app_, argc, argv, [this] {
      Resolve();
      return options_;
    });
  }

 private:
  void Resolve() {
    ResolveAddresses();
    tls_flags_->Resolve();
    if (config_.security.tls && gateway_flags_->given()) {
      BadCombination("--tls", "not together with --http, which speaks HTTP without it");
    }
    allocation_flags_->Resolve();
    wire_flags_->Resolve();
    if (config_.compression != Compression::kNone) config_.limits.accepts_compressed = true;
    ResolveCall();
    for (const CLI::Option* option : {distribution_, service_mode_}) {
      if (option->count() > 0 && config_.service_time.mean_ns == 0)
        BadCombination(option->get_name(), "needs --service-time");
    }
    config_.service_time.exponential = typed_.service_distribution == "exponential";
    config_.service_time.wait = typed_.service_mode == "wait";
    ResolveMessages();
    options_.gateway = gateway_flags_->Resolve(config_.messages);
    if (tcp_echo_->count() > 0) config_.tcp_echo_port = typed_.tcp_echo_port;
    config_.deadlock_detection = options_.deadlock_detection;
    const bool queues = HasOwnQueues(config_.api);
    if (max_threads_->count() > 0 && config_.api != ServerApi::kSync)
      BadCombination("--max-threads", "needs --api sync, not " + Api());
    if (callbacks_->count() > 0 && !queues)
      BadCombination("--callbacks-per-cq", "needs --api cq or generic, not " + Api());
    for (const CLI::Option* option : {num_cqs_, workers_}) {
      if (option->count() > 0 && config_.api == ServerApi::kCallback) {
        BadCombination(option->get_name(), "needs --api cq, generic or sync: the callback API has threads of its own");
      }
    }
    ThrowIfNotOk(ValidateServer(config_));
  }

  void ResolveCall() {
    call_->Resolve();
    if (!call_->given()) return;
    if (!call_->described()) BadCombination("--call", "needs --proto or --protoset");
    if (api_option_->count() == 0) config_.api = ServerApi::kGeneric;
    if (config_.api != ServerApi::kGeneric) BadCombination("--call", "needs --api generic, not " + Api());
  }

  void ResolveMessages() {
    const bool generic = config_.api == ServerApi::kGeneric;
    if (generic && messages_->count() == 0 && serializer_->count() == 0) config_.messages = MessageStrategy::kBytes;
    const bool bytes = config_.messages == MessageStrategy::kBytes;
    if (bytes && serializer_->count() > 0) BadCombination("--serializer", "there is none for --messages bytes");
  }

  std::string Api() const { return std::string(ToString(config_.api)); }

  void ResolveAddresses() {
    options_.address_flag = listen_->count() > 0 ? "--listen" : "--host";
    if (listen_->count() == 0) {
      auto target = ParseTarget(typed_.host_name, typed_.port);
      if (!target.ok()) BadCombination("--host", std::string(target.status().message()));
      config_.listen.push_back(*target);
    }
    for (const std::string& text : typed_.listen) {
      auto target = ParseTarget(text, typed_.port);
      if (!target.ok()) BadCombination("--listen", std::string(target.status().message()));
      config_.listen.push_back(*target);
    }
  }

  CLI::App app_;
  ServerTyped typed_;
  ServerOptions options_;
  ServerConfig& config_ = options_.server;
  std::optional<TlsFlags> tls_flags_;
  std::optional<ServerWireFlags> wire_flags_;
  std::optional<AllocationFlags> allocation_flags_;
  std::optional<GatewayFlags> gateway_flags_;
  std::optional<CallFlags> call_;
  CLI::Option *api_option_, *host_, *port_, *listen_, *num_cqs_, *workers_, *callbacks_, *messages_, *serializer_,
      *max_threads_, *tcp_echo_, *distribution_, *service_mode_;
};

}  // namespace

Parsed<ServerOptions> ParseServerFlags(int argc, const char* const* argv) {
  return ServerFlags().Parse(argc, argv);
}

}  // namespace cqbench
