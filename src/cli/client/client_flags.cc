#include "src/cli/client/client_flags.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "src/cli/client/evidence_flags.h"
#include "src/cli/client/ghz_config.h"
#include "src/cli/client/http_flags.h"
#include "src/cli/client/load_flags.h"
#include "src/cli/client/method_flags.h"
#include "src/cli/client/service_config.h"
#include "src/cli/flags/call_flags.h"
#include "src/cli/flags/help.h"
#include "src/cli/flags/tls_flags.h"
#include "src/cli/flags/wire_flags.h"
#include "src/config/units.h"
#include "src/config/validate.h"

namespace cqbench {
namespace {

constexpr uint32_t kMostMessageBytes = 1u << 30;

// The flags as typed. RunConfig has their meaning.
struct ClientTyped {
  std::string host = "localhost";
  int port = 2137;
  std::string service_config;
  std::string ghz_config;
  bool local_pool = false;
  bool async = false;
  bool async_callback = false;
  uint32_t max_message_bytes = 0;
  int max_channels = 0;
  int max_async_clients = 0;
};

class ClientFlags {
 public:
  explicit ClientFlags(const std::optional<RankId>& launched)
      : app_(
            "Measures how many RPCs one gRPC client gets done, and how long each takes, by the number in flight\n"
            "(closed loop) or by how many are due each second (open loop).",
            "grpc_ping_client") {
    SetUpHelp(app_, [] { return VersionLine("grpc_ping_client"); },
              {"--host", "--workload", "--api", "--channel-policy", "--inflight", "--inflight-list", "--rate",
               "--interval", "--format", "--output"});
    BeginGroup(app_, "Server");
    AddTarget();
    BeginGroup(app_, "TLS");
    tls_.emplace(app_, options_.run.security, TlsEnd::kClient);
    BeginGroup(app_, "Workload");
    method_.emplace(app_, options_.run);
    call_.emplace(app_, options_.call, options_.run);
    http_.emplace(app_, options_.run);
    BeginGroup(app_, "Load");
    load_.emplace(app_, options_.run, options_.goals);
    BeginGroup(app_, "Ranks");
    ranks_.emplace(app_, options_.ranks, launched);
    BeginGroup(app_, "Client");
    AddClient();
    BeginGroup(app_, "Channels");
    AddChannels();
    wire_.emplace(app_, options_.run, options_.notes);
    BeginGroup(app_, "Measuring");
    AddTimes();
    evidence_.emplace(app_, options_.run, options_.show_evidence);
    allocations_.emplace(app_, options_.allocations, "grpc_ping_client").AddMax(app_);
    BeginGroup(app_, "Output");
    AddOutput();
  }
  ClientFlags(const ClientFlags&) = delete;
  ClientFlags& operator=(const ClientFlags&) = delete;

  // Once.
  Parsed<ClientOptions> Parse(int argc, const char* const* argv) {
    std::vector<const char*> arguments(argv, argv + argc);
    if (const absl::Status status = TakeGhzConfig(arguments); !status.ok()) {
      return {std::nullopt, absl::StrCat("grpc_ping_client: --ghz-config: ", status.message(), " (see --help)\n"),
              kExitUsage};
    }
    return ParseCommandLine<ClientOptions>(app_, static_cast<int>(arguments.size()), arguments.data(), [this] {
      Resolve();
      return options_;
    });
  }

 private:
  // The file's flags come before the typed ones.
  absl::Status TakeGhzConfig(std::vector<const char*>& arguments) {
    const std::vector<std::string> typed(arguments.begin() + 1, arguments.end());
    std::string path;
    for (size_t i = 0; i < typed.size(); ++i) {
      absl::string_view argument = typed[i];
      if (argument == "--ghz-config" && i + 1 < typed.size()) path = typed[i + 1];
      if (absl::ConsumePrefix(&argument, "--ghz-config=")) path = std::string(argument);
    }
    if (path.empty()) return absl::OkStatus();
    auto flags = ReadGhzConfig(path, typed);
    if (!flags.ok()) return flags.status();
    from_ghz_ = std::move(flags->arguments);
    for (const std::string& note : flags->notes) options_.notes.push_back(absl::StrCat("--ghz-config: ", note));
    std::vector<const char*> before;
    for (const std::string& argument : from_ghz_) before.push_back(argument.c_str());
    arguments.insert(arguments.begin() + 1, before.begin(), before.end());
    return absl::OkStatus();
  }

  void AddTarget() {
    app_.add_option("--host", typed_.host,
                    "Server address: HOST, HOST:PORT, [V6]:PORT or unix:PATH; several separated by commas.")
        ->capture_default_str();
    app_.add_option("--ghz-config", typed_.ghz_config,
                    "Configuration file of ghz (JSON), whose fields become flags; the command line takes precedence.")
        ->type_name("FILE");
    AddNumber(app_, "--port", typed_.port, 1, 65535, "Server port if --host names none.");
    AddDuration(app_, "--connect-timeout", options_.run.connect_timeout_ns,
                "Time limit for all connections of a point.");
    app_.add_flag("--wait-for-server", options_.run.wait_for_server,
                  "Retry refused connections for the whole --connect-timeout.");
  }

  void AddClient() {
    api_ = AddEnum(app_, "--api", options_.run.api,
                   "Client API: threads, completion queues, reactors, or plain HTTP without gRPC.");
    app_.add_flag("--async", typed_.async, "Same as --api cq.");
    app_.add_flag("--async-callback", typed_.async_callback, "Same as --api callback.");
    threads_ = AddNumber(app_, "--threads", options_.run.threads, 1, 4096,
                         "Completion-queue threads or HTTP event loops (default: CPUs allowed).");
    max_async_clients_ = AddNumber(app_, "--max-async-clients", typed_.max_async_clients, 0, kMaxInflight,
                                   "Maximum of completion-queue threads and of channels; 0: no maximum.");
    AddEnum(app_, "--poll", options_.run.poll,
            "Polling by completion-queue threads; spin and non-polling need --api cq.");
    AddDeadlockDetection(app_, options_.deadlock_detection);
  }

  void AddChannels() {
    policy_ = AddParsed(app_, "--channel-policy", options_.run.policy, ParseChannelPolicy,
                        "Channels: shared, per-slot, distinct-args, local-pool or pool:N.")
                  ->type_name("POLICY")
                  ->default_str(options_.run.policy.ToString());
    app_.add_flag("--local-pool", typed_.local_pool, "Same as --channel-policy local-pool.");
    max_channels_ = AddNumber(app_, "--max-channels", typed_.max_channels, 1, kMaxInflight,
                              "Maximum of channels for policies with one channel per slot.");
    channel_args_ = AddChannelArgs(app_, options_.run.channel_args);
    const auto parse_bytes = [](const std::string& text) { return ParseBytes(text, kMostMessageBytes); };
    max_message_bytes_ = AddParsed(app_, "--max-message-bytes", typed_.max_message_bytes, parse_bytes,
                                   "Maximum response size (default: 64MiB where responses have a payload, else 4MiB).")
                             ->type_name("BYTES");
    AddParsed(app_, "--service-config", options_.run.service_config, ReadServiceConfig,
              "gRPC service config as JSON, or @FILE.")
        ->type_name("JSON|@FILE");
    app_.add_flag("--wait-for-ready", options_.run.wait_for_ready,
                  "Let calls without a connection wait for one until their deadline.");
  }

  void AddTimes() {
    AddDuration(app_, "--warmup", options_.run.warmup_ns,
                "Warm-up before each point; a number of seconds, or with a unit: 500ms.", /*min_ns=*/0);
    AddDuration(app_, "--interval", options_.run.interval_ns, "Measured time of each point.");
    AddDeadline(app_, options_.run.deadline_ns);
    AddDuration(app_, "--time-bucket", options_.run.bucket_ns,
                "Length of a time bucket in the JSON (default: interval/50, at least 100ms).", kMinTimeBucket)
        ->default_str("");
  }

  void AddOutput() {
    format_ = AddEnum(app_, "--format", options_.format, "Output format.");
    app_.add_option("--output", options_.output,
                    "File for the result, in addition to standard output; its ending .json or .csv chooses the format.")
        ->type_name("FILE");
    app_.add_flag("--with-csv", options_.with_csv, "Add a CSV block below the table.");
    app_.add_flag("--per-worker-stats", options_.per_worker_stats,
                  "Add the throughput of each slot of the last point.");
    max_error_rate_ = AddNumber(app_, "--max-error-rate", options_.max_error_rate, 0.0, 1.0,
                                "Maximum share of calls without a right response; above it the exit status is 1.")
                          ->type_name("SHARE");
  }

  void Resolve() {
    auto targets = ParseTargets(typed_.host, typed_.port);
    if (!targets.ok()) BadCombination("--host", std::string(targets.status().message()));
    options_.run.targets = *std::move(targets);
    tls_->Resolve();
    ResolveApi();
    wire_->Resolve();
    ResolveMethod();
    ResolvePolicy();
    load_->Resolve();
    ranks_->Resolve(options_.run, options_.goals);
    if (options_.ranks.id) options_.call.seed = SeedOf(options_.call.seed, *options_.ranks.id);
    http_->Resolve(typed_.local_pool || policy_->count() > 0);
    evidence_->Resolve();
    allocations_->Resolve();
    ResolveOutput();
    ThrowIfNotOk(ValidateRun(options_.run));
  }

  void ResolveMethod() {
    call_->Resolve();
    if (IsHttp(options_.run.api)) {
      if (call_->given())
        BadCombination("--call", "needs --api sync, cq or callback; --api http1 and http2 take --http-request");
      http_->given() ? method_->ResolveForRequest() : method_->ResolveForHttp();
    } else if (call_->given()) {
      method_->ResolveForCall(options_.call);
    } else {
      method_->Resolve();
    }
  }

  void ResolveApi() {
    if (typed_.async && typed_.async_callback) BadCombination("--async", "not together with --async-callback");
    if ((typed_.async || typed_.async_callback) && api_->count() > 0) {
      BadCombination(typed_.async ? "--async" : "--async-callback", "not together with --api");
    }
    RunConfig& run = options_.run;
    if (typed_.async) run.api = ClientApi::kCq;
    if (typed_.async_callback) run.api = ClientApi::kCallback;
    const absl::string_view api = ToString(run.api);
    const bool cq = run.api == ClientApi::kCq;
    if (threads_->count() > 0 && !cq && !IsHttp(run.api)) {
      BadCombination("--threads", absl::StrCat("needs --api cq, http1 or http2, not ", api));
    }
    if (max_async_clients_->count() > 0 && (run.api == ClientApi::kSync || IsHttp(run.api))) {
      BadCombination("--max-async-clients", "needs --async or --async-callback");
    }
    for (const CLI::Option* option : {channel_args_, max_message_bytes_}) NeedsGrpc(option, run.api);
    if (max_message_bytes_->count() > 0) LimitMessages();
    if (cq && threads_->count() == 0) run.threads = typed_.max_async_clients;
  }

  void LimitMessages() {
    constexpr char kArgument[] = "grpc.max_receive_message_length";
    auto& arguments = options_.run.channel_args;
    if (std::any_of(arguments.begin(), arguments.end(), [&](auto& arg) { return arg.key == kArgument; })) {
      BadCombination("--max-message-bytes", absl::StrCat("not together with --channel-arg ", kArgument));
    }
    arguments.push_back({kArgument, static_cast<int>(typed_.max_message_bytes)});
  }

  void ResolvePolicy() {
    using Kind = ChannelPolicy::Kind;
    ChannelPolicy& policy = options_.run.policy;
    if (typed_.local_pool && policy_->count() > 0) BadCombination("--local-pool", "not together with --channel-policy");
    if (typed_.local_pool) policy.kind = Kind::kLocalPool;
    const bool per_slot = policy.kind != Kind::kShared && policy.kind != Kind::kPool;
    if (max_channels_->count() > 0 && !per_slot) {
      BadCombination("--max-channels", "needs a policy with a channel per slot, not " + policy.ToString());
    }
    if (!per_slot) return;
    policy.max_channels = typed_.max_channels;
    // An async client of the original talks through one channel, so fewer of them use fewer channels.
    if (const int clients = typed_.max_async_clients; clients > 0) {
      policy.max_channels = policy.max_channels > 0 ? std::min(policy.max_channels, clients) : clients;
    }
  }

  void ResolveOutput() {
    for (const Format ending : {Format::kJson, Format::kCsv}) {
      if (format_->count() > 0 || !absl::EndsWith(options_.output, absl::StrCat(".", ToString(ending)))) continue;
      options_.format = ending;
    }
    if (options_.goals.find_rate && max_error_rate_->count() > 0) {
      BadCombination("--max-error-rate", "not together with --find-rate: its objective says it, as errors<0.1%");
    }
    if (options_.format == Format::kTable || !options_.output.empty()) return;
    const std::string format(ToString(options_.format));
    if (options_.show_evidence)
      BadCombination("--evidence", "adds to the table: --format " + format + " has this in any case");
    for (const auto& [flag, given] :
         {std::pair{"--with-csv", options_.with_csv}, {"--per-worker-stats", options_.per_worker_stats}}) {
      if (given) BadCombination(flag, "needs --format table, not " + format);
    }
  }

  CLI::App app_;
  ClientTyped typed_;
  ClientOptions options_;
  std::vector<std::string> from_ghz_;
  std::optional<TlsFlags> tls_;
  std::optional<MethodFlags> method_;
  std::optional<ClientCallFlags> call_;
  std::optional<HttpFlags> http_;
  std::optional<LoadFlags> load_;
  std::optional<RankFlags> ranks_;
  std::optional<ClientWireFlags> wire_;
  std::optional<EvidenceFlags> evidence_;
  std::optional<AllocationFlags> allocations_;
  CLI::Option *channel_args_, *max_message_bytes_;
  CLI::Option *api_, *threads_, *max_async_clients_, *policy_, *max_channels_, *max_error_rate_, *format_;
};

}  // namespace

Parsed<ClientOptions> ParseClientFlags(int argc, const char* const* argv) {
  return ClientFlags(std::nullopt).Parse(argc, argv);
}

Parsed<ClientOptions> ParseClientFlags(int argc, const char* const* argv, const RankId& launched) {
  return ClientFlags(launched).Parse(argc, argv);
}

}  // namespace cqbench
