#include "src/config/validate.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/config/units.h"

namespace cqbench {
namespace {

template <typename... Parts>
absl::Status Invalid(const char* flag, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", parts...));
}

absl::Status ValidateTargets(const char* flag, const std::vector<Target>& targets) {
  for (const Target& target : targets) {
    if (target.is_unix() || target.port > 0) continue;
    return Invalid(flag, "'", target.ToString(), "' has port 0: HOST:PORT with 1 to 65535 is accepted");
  }
  return absl::OkStatus();
}

absl::Status ValidateApi(const RunConfig& run) {
  const absl::string_view api = ToString(run.api);
  if (run.poll != PollMode::kBlock && run.api != ClientApi::kCq) {
    return Invalid("--poll", ToString(run.poll), " needs --api cq, not ", api);
  }
  if (!IsHttp(run.api)) return absl::OkStatus();
  const std::pair<const char*, bool> of_grpc[] = {
      {"--tls", run.security.tls},
      {"--service-config", !run.service_config.empty()},
      {"--wait-for-ready", run.wait_for_ready},
      {"--compression", run.compression.algorithm != Compression::kNone},
      {"--metadata", run.generated_metadata.entries > 0},
      {"--breakdown", run.breakdown},
      {"--lower-bound", run.lower_bound},
  };
  for (const auto& [flag, given] : of_grpc) {
    if (given) return Invalid(flag, "needs --api sync, cq or callback, not ", api);
  }
  return absl::OkStatus();
}

// Bounds the memory that time buckets take.
absl::Status ValidateTimeBuckets(const RunConfig& run) {
  if (run.bucket_ns == 0) return absl::OkStatus();
  const std::string bucket = FormatDuration(run.bucket_ns);
  const Nanos buckets = run.interval_ns / run.bucket_ns;
  if (buckets < 2 || buckets > kMaxTimeBuckets) {
    return Invalid("--time-bucket", bucket, " makes ", buckets, " of --interval ", FormatDuration(run.interval_ns),
                   ": 2 to ", kMaxTimeBuckets, " are accepted");
  }
  for (const Load& load : run.points) {
    if (run.api != ClientApi::kSync || buckets * load.slots <= kMaxTimeBucketsOfThreads) continue;
    return Invalid("--time-bucket", bucket, " makes ", buckets, " for each of ", load.slots,
                   " threads: with --api sync at most ", kMaxTimeBucketsOfThreads, " in all are accepted");
  }
  return absl::OkStatus();
}

absl::Status ValidateRepetitions(const RunConfig& run) {
  if (run.until_stable_percent == 0 || run.max_repetitions >= run.repetitions) return absl::OkStatus();
  return Invalid("--max-repetitions", run.max_repetitions, " is below --repetitions ", run.repetitions);
}

absl::Status ValidateHttpHeaders(const std::vector<Metadata>& headers) {
  if (headers.size() > kMaxHttpFields) return Invalid("--header", "at most ", kMaxHttpFields, " over HTTP");
  for (const Metadata& header : headers) {
    const bool ours = header.key == "host" || header.key == "content-length" || header.key == "transfer-encoding" ||
                      header.key == "connection";
    if (!ours && !absl::EndsWith(header.key, "-bin")) continue;
    return Invalid("--header", "'", header.key,
                   "' is not accepted over HTTP: ", ours ? "the client sets it itself" : "it stands for bytes in gRPC");
  }
  return absl::OkStatus();
}

// HTTP/1.1 has one call at a time on a connection, so there every slot needs one of its own.
absl::Status ValidateHttp1Connections(const RunConfig& run) {
  for (const Load& load : run.points) {
    const ChannelPlan plan = PlanChannels(run.policy, load.slots, static_cast<int>(run.targets.size()));
    if (plan.expected_connections >= load.slots) continue;
    return Invalid("--channel-policy", run.policy.ToString(), " makes ", plan.expected_connections,
                   " connection(s) for ", load.slots,
                   " calls in flight: HTTP/1.1 has one call at a time on a connection; accepted are local-pool, "
                   "distinct-args and pools that are as large");
  }
  return absl::OkStatus();
}

absl::Status ValidateHttp(const RunConfig& run) {
  if (!IsHttp(run.api)) return absl::OkStatus();
  if (absl::Status status = ValidateHttpHeaders(run.metadata); !status.ok()) return status;
  return run.api == ClientApi::kHttp1 ? ValidateHttp1Connections(run) : absl::OkStatus();
}

absl::Status ValidateServerMessages(const ServerConfig& server) {
  if (server.api == ServerApi::kGeneric) return absl::OkStatus();
  const absl::string_view api = ToString(server.api);
  if (server.messages == MessageStrategy::kBytes) {
    return Invalid("--messages", "bytes needs --api generic, not ", api);
  }
  if (server.serializer == Serializer::kReusingBuffers) {
    return Invalid("--serializer", "buffer-reusing needs --api generic, not ", api);
  }
  return absl::OkStatus();
}

absl::Status ValidateServerPoll(const ServerConfig& server) {
  if (server.poll != PollMode::kSpin || HasOwnQueues(server.api)) return absl::OkStatus();
  return Invalid("--poll", "spin needs --api cq or generic, not ", ToString(server.api));
}

}  // namespace

absl::Status ValidateRun(const RunConfig& run) {
  for (const absl::Status& status :
       {ValidateTargets("--host", run.targets), ValidateTargets("--control", run.control), ValidateApi(run),
        ValidateTimeBuckets(run), ValidateRepetitions(run), ValidateHttp(run)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ValidateServer(const ServerConfig& server) {
  for (const absl::Status& status : {ValidateServerMessages(server), ValidateServerPoll(server)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace cqbench
