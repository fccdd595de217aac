#include "src/cli/flags/wire_flags.h"

#include <grpc/compression.h>
#include <grpc/grpc.h>

#include <algorithm>
#include <climits>

#include "absl/strings/str_cat.h"
#include "src/base/loaded_code.h"

namespace cqbench {
namespace {

constexpr uint64_t kOwnMetadata = 600;  // of gRPC's in each call, about
constexpr int kUsualKeepaliveTimeoutMs = 20'000;

// These flags are names, with units, for channel arguments. What --channel-arg says as well is not overruled silently.
void RefuseBeside(const CLI::Option* flag, absl::string_view key, const std::vector<ChannelArg>& args) {
  if (flag->count() == 0) return;
  const bool given = std::any_of(args.begin(), args.end(), [&](const ChannelArg& arg) { return arg.key == key; });
  if (given) BadCombination(flag->get_name(), absl::StrCat("not together with --channel-arg ", key));
}

void Set(const CLI::Option* flag, const std::string& key, int value, std::vector<ChannelArg>& args) {
  RefuseBeside(flag, key, args);
  args.push_back({key, value});
}

// Arguments that choose an algorithm as well, or that leave out what compresses.
void CheckCompression(const CLI::Option* flag, const std::vector<ChannelArg>& args) {
  for (const char* key : {GRPC_COMPRESSION_CHANNEL_DEFAULT_ALGORITHM, GRPC_COMPRESSION_CHANNEL_DEFAULT_LEVEL,
                          GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION,
                          GRPC_ARG_MINIMAL_STACK}) {
    RefuseBeside(flag, key, args);
  }
}

CLI::Option* AddKeepalive(CLI::App& app, Keepalive& into, const std::string& help) {
  return AddParsed(app, "--keepalive", into, ParseKeepalive, help)->type_name("SECONDS[,SECONDS]");
}

// How long any ping may stay without a response. Newer releases send none for keepalive while another waits (they send
// some of their own to estimate the bandwidth), so that a connection which dies then lives on for this time: a minute
// unless told otherwise. The key is put together so that it is found in the library, if at all, and not in this
// program.
void SetPingTimeout(const CLI::Option* flag, int timeout_ms, std::vector<ChannelArg>& args) {
  const std::string key = absl::StrCat("grpc.http2.", "ping_timeout_ms");
  if (IsInLoadedCode(key).value_or(false)) Set(flag, key, timeout_ms, args);
}

void SetKeepalive(const CLI::Option* flag, const Keepalive& keepalive, std::vector<ChannelArg>& args) {
  Set(flag, GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.time_ms, args);
  if (keepalive.timeout_ms > 0) Set(flag, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.timeout_ms, args);
  SetPingTimeout(flag, keepalive.timeout_ms > 0 ? keepalive.timeout_ms : kUsualKeepaliveTimeoutMs, args);
  Set(flag, GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1, args);
  Set(flag, GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0, args);  // no limit
}

}  // namespace

CLI::Option* AddDeadline(CLI::App& app, std::optional<Nanos>& into) {
  const auto parse = [](const std::string& text) -> absl::StatusOr<std::optional<Nanos>> {
    if (text == "none") return std::optional<Nanos>();
    const auto deadline = ParseDuration(text);
    if (deadline.ok()) return std::optional<Nanos>(*deadline);
    return absl::InvalidArgumentError(absl::StrCat(deadline.status().message(), ", or none"));
  };
  return AddParsed(app, "--deadline", into, parse,
                   "Deadline of each call, or of each message of a bidirectional stream.")
      ->type_name("SECONDS|none")
      ->default_str(FormatDuration(into.value_or(0)));
}

ClientWireFlags::ClientWireFlags(CLI::App& app, RunConfig& run, std::vector<std::string>& notes)
    : run_(run), notes_(notes) {
  compression_ = AddParsed(app, "--compression", run.compression, ParseClientCompression,
                           "Compression of requests: the channel's default, or with call: set in each call.")
                     ->type_name("none|[call:]deflate|[call:]gzip")
                     ->default_str("none");
  metadata_ = AddParsed(app, "--metadata", run.generated_metadata, ParseGeneratedMetadata,
                        "Generated metadata of every call: entries × value size, as in 8x64:bin,changing.")
                  ->type_name("N×BYTES[:bin,changing]");
  keepalive_option_ =
      AddKeepalive(app, keepalive_, "Time without data before a ping, and time limit for its reply (default: 20s).");
}

void ClientWireFlags::Resolve() {
  NeedsGrpc(keepalive_option_, run_.api);
  CheckCompression(compression_, run_.channel_args);
  if (keepalive_option_->count() > 0) SetKeepalive(keepalive_option_, keepalive_, run_.channel_args);
  const uint64_t bytes = HeaderListBytes(run_.generated_metadata) + kOwnMetadata;
  if (metadata_->count() == 0 || bytes <= kUsualMetadataLimit) return;
  notes_.push_back(absl::StrCat("--metadata: ", ToString(run_.generated_metadata), " is ", bytes,
                                " bytes with gRPC's own, as HTTP/2 counts them, and gRPC takes ", kUsualMetadataLimit,
                                " unless the server's " GRPC_ARG_MAX_METADATA_SIZE " says otherwise (grpc_ping_server "
                                "--channel-arg " GRPC_ARG_MAX_METADATA_SIZE "=",
                                bytes, ")"));
}

ServerWireFlags::ServerWireFlags(CLI::App& app, ServerConfig& config) : config_(config) {
  compression_ = AddEnum(app, "--compression", config.compression, "Compression of responses.");
  keepalive_option_ =
      AddKeepalive(app, keepalive_, "Time without data before a ping, and time limit for its reply (default: 20s).");
  max_streams_option_ = AddNumber(app, "--max-concurrent-streams", max_streams_, 1, INT_MAX,
                                  "Maximum of concurrent calls on a connection (default: practically none).");
}

void ServerWireFlags::Resolve() {
  CheckCompression(compression_, config_.channel_args);
  if (keepalive_option_->count() > 0) {
    SetKeepalive(keepalive_option_, keepalive_, config_.channel_args);
    Set(keepalive_option_, GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 0, config_.channel_args);
    Set(keepalive_option_, GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0, config_.channel_args);
  }
  if (max_streams_option_->count() > 0) {
    Set(max_streams_option_, GRPC_ARG_MAX_CONCURRENT_STREAMS, max_streams_, config_.channel_args);
  }
}

}  // namespace cqbench
