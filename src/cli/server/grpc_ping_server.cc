// The server: flags → config → serve until a signal comes.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/reporter.h"
#include "cqbench/server.h"
#include "src/base/interrupt.h"
#include "src/base/last_resort.h"
#include "src/base/sockets.h"
#include "src/channel/tls.h"
#include "src/cli/flags/tls_flags.h"
#include "src/cli/server/server_flags.h"
#include "src/http/gateway/gateway.h"
#include "src/observe/sampling/process.h"
#include "src/server/limits/ends_within.h"
#include "src/server/limits/memory_guard.h"

namespace cqbench {
namespace {

std::string Describe(const ServerConfig& config) {
  std::string text = absl::StrCat("gRPC ", GrpcVersion(), ", api ", ToString(config.api));
  if (config.api != ServerApi::kCallback) {
    absl::StrAppend(&text, ", ", config.num_cqs, " completion queue(s), ", config.workers_per_cq,
                    " thread(s) per queue");
  }
  if (HasOwnQueues(config.api)) {
    absl::StrAppend(&text, ", ", config.callbacks_per_cq, " callbacks per queue and method, poll ",
                    ToString(config.poll));
  }
  absl::StrAppend(&text, ", messages ", ToString(config.messages));
  if (config.serializer == Serializer::kReusingBuffers) absl::StrAppend(&text, ", serializer buffer-reusing");
  if (config.compression != Compression::kNone) absl::StrAppend(&text, ", compression ", ToString(config.compression));
  if (const ServiceTimeConfig& time = config.service_time; time.mean_ns > 0) {
    absl::StrAppend(&text, ", service time ", FormatDuration(time.mean_ns), time.exponential ? " exponential" : "",
                    time.wait ? " waiting" : "");
  }
  if (const Security& security = config.security; security.tls) {
    absl::StrAppend(&text, ", TLS ", ToString(security.min_version), " or newer",
                    security.ca.name.empty() ? "" : " with client certificates");
    if (!security.ciphers.empty()) absl::StrAppend(&text, ", ", CipherList(security));
  }
  if (config.stand_in) absl::StrAppend(&text, ", stand-in for ", config.stand_in->path);
  for (const ChannelArg& arg : config.channel_args) {
    const int* number = std::get_if<int>(&arg.value);
    absl::StrAppend(&text, ", ", arg.key, "=", number ? absl::StrCat(*number) : std::get<std::string>(arg.value));
  }
  return absl::StrCat(text, ", CPUs ", FormatCpuList(AllowedCpus()));
}

std::string Describe(const GatewayConfig& config) {
  std::string text = absl::StrCat(config.threads, " HTTP thread(s), transcoder ", ToString(config.transcoder));
  if (config.transcoder == TranscoderKind::kNone) return text;
  absl::StrAppend(&text, ", backend ", ToString(config.backend));
  if (config.backend == BackendKind::kLoopback) {
    absl::StrAppend(&text, config.target ? absl::StrCat(" ", config.target->ToString()) : "", ", ", config.channels,
                    " channel(s) ", config.policy.ToString());
  }
  return text;
}

int Complain(absl::string_view what, int exit_code) {
  std::fprintf(stderr, "grpc_ping_server: %.*s\n", static_cast<int>(what.size()), what.data());
  return exit_code;
}

// Warns of settings that are accepted but risky.
void Warn(const ServerConfig& config, const std::vector<Target>& addresses) {
  if (const std::string why = WarnOfCertificate(config.security); !why.empty()) Complain("warning: " + why, 0);
  for (const Target& target : addresses) {
    if (config.security.tls || IsLocal(target)) continue;
    Complain(absl::StrCat("warning: ", target.ToString(),
                          " can be reached from other machines, without TLS (--tls): "
                          "anybody there may call, and read what is sent"),
             0);
  }
}

void PrintCounts(const HttpCounts& counts) {
  const auto of = [&](size_t hundreds) { return static_cast<unsigned long long>(counts.responses[hundreds - 1]); };
  std::printf("answered over HTTP: %llu 2xx, %llu 4xx, %llu 5xx; %llu connections\n", of(2), of(4), of(5),
              static_cast<unsigned long long>(counts.connections));
}

// Time limit for the library to stop after --drain.
constexpr Nanos kEndLimit = kNanosPerSecond;

// Threads of the library's still run: nothing may be destroyed.
[[noreturn]] void LeaveCalls(int exit_code) {
  Complain("1 s after the end of --drain the library had not ended all calls: the process ends without them", 0);
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

int Main(int argc, const char* const* argv) {
  Interrupt interrupt;  // before the library starts threads
  const Parsed<ServerOptions> parsed = ParseServerFlags(argc, argv);
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  QuietLibraries();
  ServerConfig config = parsed.options->server;
  if (!parsed.options->call.method.empty()) {
    auto stand_in = MakeStandIn(parsed.options->call);
    if (!stand_in.ok()) {
      return Complain(stand_in.status().message(), kExitUsage);
    }
    config.stand_in = *std::move(stand_in);
  }
  if (const absl::Status enough = CheckThreadsAndMemory(); !enough.ok())
    return Complain(enough.message(), kExitFailure);
  if (const absl::Status begun = BeginTls(config.security); !begun.ok()) {
    return Complain(begun.message(), absl::IsInvalidArgument(begun) ? kExitUsage : kExitFailure);
  }
  SetDeadlockDetection(parsed.options->deadlock_detection);
  WarnOfUnknownChannelArgs("grpc_ping_server", config.channel_args);
  AllocationReport allocations(parsed.options->allocations);
  if (const absl::Status begun = allocations.Begin(); !begun.ok()) {
    return Complain(begun.message(), kExitUsage);
  }
  RaiseDescriptorLimit();  // a connection is a descriptor
  MemoryGuard memory(config.limits.memory_bytes);
  auto server = StartServer(config);
  if (!server.ok()) {
    const bool usage = absl::IsNotFound(server.status());
    std::fprintf(stderr, "grpc_ping_server: %s%s\n", usage ? (parsed.options->address_flag + ": ").c_str() : "",
                 std::string(server.status().message()).c_str());
    return usage ? kExitUsage : kExitFailure;
  }
  if (const absl::Status kept = ValidateTlsLimitsReachLibrary(config.security); !kept.ok()) {
    return Complain(kept.message(), kExitFailure);
  }
  std::unique_ptr<Gateway> gateway;
  if (parsed.options->gateway) {
    auto started = Gateway::Start(*parsed.options->gateway, **server);
    if (!started.ok()) {
      const bool bad_address = absl::IsNotFound(started.status()) || absl::IsInvalidArgument(started.status());
      std::fprintf(stderr, "grpc_ping_server: --http: %s\n", std::string(started.status().message()).c_str());
      return bad_address ? kExitUsage : kExitFailure;
    }
    gateway = *std::move(started);
    for (const std::string& why : gateway->refused_rules()) Complain("warning: not served over HTTP: " + why, 0);
  }
  std::vector<Target> reached = (*server)->listening();
  if (gateway) reached.push_back(gateway->address());
  Warn(config, reached);
  std::printf("%s\n", Describe(config).c_str());
  if (gateway) std::printf("%s\n", Describe(*parsed.options->gateway).c_str());
  for (const Target& target : (*server)->listening()) std::printf("listening on %s\n", target.ToString().c_str());
  if (gateway) std::printf("HTTP on %s\n", gateway->address().ToString().c_str());
  if (const int port = (*server)->tcp_echo_port()) std::printf("TCP echo on port %d\n", port);
  std::fflush(stdout);

  while (!interrupt.SleepUntil(NowNs() + MemoryGuard::kPeriod)) {
    if (const std::string told = memory.Check(**server); !told.empty()) Complain(told, 0);
  }
  const bool ended = EndsWithin(config.drain_ns + kEndLimit, [&] {
    if (gateway) gateway->Stop();
    (*server)->Shutdown();
  });
  const ServerCounts counts = (*server)->Counts();
  if (gateway) PrintCounts(gateway->counts());
  std::printf("served %llu calls: %llu ok, %llu failed; %llu messages answered\n",
              static_cast<unsigned long long>(counts.calls_started), static_cast<unsigned long long>(counts.calls_ok),
              static_cast<unsigned long long>(counts.calls_failed), static_cast<unsigned long long>(counts.messages));
  std::optional<AllocationSites> sites;
  const absl::Status reported = allocations.End(sites);
  if (sites) std::fputs(FormatAllocationSites("server", *sites).c_str(), stdout);
  if (!reported.ok()) std::fprintf(stderr, "grpc_ping_server: %s\n", std::string(reported.message()).c_str());
  const int exit_code = reported.ok() ? 0 : kExitFailure;
  if (!ended) LeaveCalls(exit_code);
  return exit_code;
}

}  // namespace
}  // namespace cqbench

int main(int argc, char** argv) {
  cqbench::InstallLastResort("grpc_ping_server");
  return cqbench::Main(argc, argv);
}
