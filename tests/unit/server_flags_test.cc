// Command lines of the server: their meaning, and which are refused.
#include "src/cli/server/server_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/unit/command_line.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Parsed<ServerOptions> ParseLine(const Arguments& arguments) {
  return ParseWith(ParseServerFlags, arguments);
}

ServerConfig Config(const std::string& line) {
  const auto parsed = ParseLine(Split(line));
  EXPECT_EQ(parsed.exit_code, 0) << parsed.text;
  EXPECT_EQ(parsed.text, "");
  return parsed.options.value_or(ServerOptions()).server;
}

void Refused(const Arguments& arguments, const Arguments& words) {
  ExpectUsageError(ParseLine(arguments), arguments, words);
}

void RefusedValues(const std::string& flag, const Arguments& values, const Arguments& further = {}) {
  RefuseValues(Refused, flag, values, further);
}

TEST(ServerFlags, DefaultsListenOnTheLoopbackInterfaceOnly) {
  const auto parsed = ParseWith(ParseServerFlags, {});
  ASSERT_TRUE(parsed.options.has_value()) << parsed.text;
  const ServerConfig& config = parsed.options->server;
  EXPECT_THAT(Texts(config.listen), ElementsAre("localhost:2137"));
  EXPECT_EQ(config.api, ServerApi::kCq);
  EXPECT_EQ(config.poll, PollMode::kBlock);
  EXPECT_EQ(config.num_cqs, 1);
  EXPECT_EQ(config.workers_per_cq, 1);
  EXPECT_EQ(config.callbacks_per_cq, 100);
  EXPECT_TRUE(config.channel_args.empty());
  EXPECT_EQ(config.drain_ns, 2 * kNanosPerSecond);
  EXPECT_FALSE(parsed.options->deadlock_detection);
}

TEST(ServerFlags, ThoseOfThePostWork) {
  const ServerConfig config = Config("--num-cqs 8 --workers-per-cq 2 --callbacks-per-cq 10");
  EXPECT_EQ(config.num_cqs, 8);
  EXPECT_EQ(config.workers_per_cq, 2);
  EXPECT_EQ(config.callbacks_per_cq, 10);
}

TEST(ServerFlags, HostAndPort) {
  const auto listening = [](const std::string& line) { return Texts(Config(line).listen); };
  EXPECT_THAT(listening("--host 0.0.0.0 --port 50051"), ElementsAre("0.0.0.0:50051"));
  EXPECT_THAT(listening("--port 0"), ElementsAre("localhost:0"));
  EXPECT_THAT(listening("--host ::"), ElementsAre("[::]:2137"));
  EXPECT_THAT(listening("--host 10.0.0.1:7"), ElementsAre("10.0.0.1:7"));
  EXPECT_THAT(listening("--listen [::1]"), ElementsAre("[::1]:2137"));
  EXPECT_THAT(listening("--listen unix:/run/ping.sock --listen [::1]:7 --listen 127.0.0.1:0"),
              ElementsAre("unix:/run/ping.sock", "[::1]:7", "127.0.0.1:0"));
}

TEST(ServerFlags, Apis) {
  for (const char* api : {"cq", "callback", "sync", "generic"}) {
    EXPECT_EQ(ToString(Config(absl::StrCat("--api ", api)).api), api);
  }
}

TEST(ServerFlags, MessagesAreReusedUnlessThereAreNone) {
  for (const char* api : {"cq", "callback", "sync"}) {
    const std::string line = absl::StrCat("--api ", api);
    EXPECT_EQ(Config(line).messages, MessageStrategy::kReused);
    EXPECT_EQ(Config(line + " --messages reused").messages, MessageStrategy::kReused);
    EXPECT_EQ(Config(line + " --messages fresh").messages, MessageStrategy::kFresh);
    EXPECT_EQ(Config(line + " --messages arena").messages, MessageStrategy::kArena);
  }
  EXPECT_EQ(Config("--api generic").messages, MessageStrategy::kBytes);
  EXPECT_EQ(Config("--api generic --messages bytes").messages, MessageStrategy::kBytes);
  EXPECT_EQ(Config("--api generic --messages arena").messages, MessageStrategy::kArena);
  EXPECT_EQ(Config("--api generic --messages arena").serializer, Serializer::kProtobuf);
  EXPECT_EQ(Config("--api generic --serializer buffer-reusing").serializer, Serializer::kReusingBuffers);
  EXPECT_EQ(Config("--api generic --serializer buffer-reusing").messages, MessageStrategy::kReused)
      << "there is something to code";
}

TEST(ServerFlags, PollSpinWithQueuesOfOurs) {
  EXPECT_EQ(Config("--poll spin").poll, PollMode::kSpin);
  EXPECT_EQ(Config("--poll spin --api generic").poll, PollMode::kSpin);
}

TEST(ServerFlags, ChannelArgsAndDrain) {
  const ServerConfig config = Config("--channel-arg a=1 --channel-arg b=x --drain 500ms");
  ASSERT_THAT(config.channel_args, SizeIs(2));
  EXPECT_EQ(std::get<int>(config.channel_args[0].value), 1);
  EXPECT_EQ(std::get<std::string>(config.channel_args[1].value), "x");
  EXPECT_EQ(config.drain_ns, 500 * kNanosPerMilli);
}

TEST(ServerFlags, TcpEchoOnlyWhenAskedFor) {
  EXPECT_FALSE(Config("").tcp_echo_port.has_value());
  EXPECT_EQ(Config("--tcp-echo-port 0").tcp_echo_port, 0);
  EXPECT_EQ(Config("--tcp-echo-port 2138").tcp_echo_port, 2138);
}

TEST(ServerFlags, ServiceTime) {
  EXPECT_EQ(Config("").service_time.mean_ns, 0);
  const ServiceTimeConfig plain = Config("--service-time 20us").service_time;
  EXPECT_EQ(plain.mean_ns, 20 * kNanosPerMicro);
  EXPECT_FALSE(plain.exponential);
  EXPECT_FALSE(plain.wait);
  const ServiceTimeConfig other =
      Config("--service-time 1ms --service-time-distribution exponential --service-time-mode wait").service_time;
  EXPECT_TRUE(other.exponential);
  EXPECT_TRUE(other.wait);
}

TEST(ServerFlags, Limits) {
  const ServerLimits defaults = Config("").limits;
  EXPECT_EQ(defaults.memory_bytes, DefaultMemoryLimit());
  EXPECT_LE(defaults.memory_bytes, uint64_t{8} << 30);
  EXPECT_EQ(defaults.message_bytes, kMaxPayloadBytes);
  EXPECT_FALSE(defaults.accepts_compressed);
  const ServerLimits limits =
      Config("--api sync --memory-limit 512MiB --max-message-bytes 1KiB --max-threads 7 --accept-compressed").limits;
  EXPECT_EQ(limits.memory_bytes, uint64_t{512} << 20);
  EXPECT_EQ(limits.message_bytes, 1024u);
  EXPECT_EQ(limits.threads, 7);
  EXPECT_TRUE(limits.accepts_compressed);
  EXPECT_EQ(Config("--memory-limit 12GiB").limits.memory_bytes, uint64_t{12} << 30);
  EXPECT_EQ(Config("--memory-limit 0").limits.memory_bytes, 0u);
  RefusedValues("--memory-limit", {"63MiB", "1024", "GiB", "-1GiB", "4000000GiB"});
  RefusedValues("--max-message-bytes", {"0", "65MiB", "x"});
  RefusedValues("--max-threads", {"0", "100001"}, {"--api", "sync"});
  Refused({"--max-threads", "7"}, {"--max-threads", "needs --api sync"});
}

TEST(ServerFlags, HelpNamesEveryFlagAndExitsWithZero) {
  const auto parsed = ParseWith(ParseServerFlags, {"--help-all"});
  EXPECT_FALSE(parsed.options.has_value());
  EXPECT_EQ(parsed.exit_code, 0);
  for (const char* flag : {"--host", "--port", "--listen", "--api", "--num-cqs", "--workers-per-cq",
                           "--callbacks-per-cq", "--messages", "--poll", "--channel-arg", "--drain", "--tcp-echo-port",
                           "--service-time", "--service-time-distribution", "--service-time-mode", "--version"}) {
    EXPECT_THAT(parsed.text, HasSubstr(flag));
  }
}

TEST(ServerFlags, VersionIsOneLineAndExitsWithZero) {
  const auto parsed = ParseWith(ParseServerFlags, {"--version"});
  EXPECT_FALSE(parsed.options.has_value());
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.text, testing::MatchesRegex("grpc_ping_server [^\n]*gRPC [^\n]*protobuf [^\n]*\n"));
}

TEST(ServerFlagsErrors, UnknownFlagsAndMissingValues) {
  Refused({"--no-such-flag"}, {"--no-such-flag"});
  Refused({"stray"}, {"stray"});
  for (const char* flag : {"--host", "--port", "--listen", "--api", "--num-cqs"}) Refused({flag}, {flag});
}

TEST(ServerFlagsErrors, Addresses) {
  RefusedValues("--host", {":1", "host:", "host:65536", "[::1", "two words", "a,b", "dns:///host"});
  RefusedValues("--listen", {":1", "host:http", "host:65536", "unix:", "a,b"});
  RefusedValues("--port", {"-1", "65536", "http", "99999999999999999999"});
  Refused(Split("--listen localhost:1 --port 2"), {"--listen", "--port"});
  Refused(Split("--listen localhost:1 --host localhost"), {"--listen", "--host"});
}

TEST(ServerFlagsErrors, Numbers) {
  for (const char* flag : {"--num-cqs", "--workers-per-cq", "--callbacks-per-cq"}) {
    RefusedValues(flag, {"0", "-1", "100001", "99999999999999999999", "some", "1.5"});
  }
  RefusedValues("--service-time", {"-1", "25h", "nan", "soon"});
  Refused(Split("--service-time-mode wait"), {"--service-time-mode", "--service-time"});
  Refused(Split("--service-time-distribution exponential"), {"--service-time-distribution"});
  RefusedValues("--tcp-echo-port", {"-1", "65536", "some", "1.5"});
  RefusedValues("--drain", {"0", "-1", "25h", "nan", "soon"});
}

TEST(ServerFlagsErrors, Choices) {
  RefusedValues("--api", {"async", "CQ"});
  RefusedValues("--messages", {"pooled", "Reused", ""});
  RefusedValues("--poll", {"busy"});
  RefusedValues("--service-time-mode", {"sleep"}, {"--service-time", "1ms"});
  RefusedValues("--service-time-distribution", {"normal"}, {"--service-time", "1ms"});
  RefusedValues("--channel-arg", {"key", "=value"});
}

TEST(ServerFlagsErrors, FlagsOfAnotherApi) {
  for (const char* api : {"sync", "callback"}) {
    Refused({"--poll", "spin", "--api", api}, {"--poll", "spin", api});
    Refused({"--callbacks-per-cq", "5", "--api", api}, {"--callbacks-per-cq", api});
  }
  for (const char* api : {"cq", "sync", "callback"}) {
    Refused({"--messages", "bytes", "--api", api}, {"--messages", "bytes", "generic", api});
  }
  for (const char* api : {"cq", "sync", "callback"}) {
    Refused({"--serializer", "buffer-reusing", "--api", api}, {"--serializer", "buffer-reusing", "generic", api});
  }
  Refused(Split("--api generic --messages bytes --serializer buffer-reusing"), {"--serializer", "--messages bytes"});
  RefusedValues("--serializer", {"fresh", "Pooled", ""});
  Refused(Split("--num-cqs 2 --api callback"), {"--num-cqs", "callback"});
  Refused(Split("--workers-per-cq 2 --api callback"), {"--workers-per-cq", "callback"});
}

TEST(ServerFlags, AnHttpFrontEndIsWhatItsFlagsSay) {
  const auto parsed = ParseWith(
      ParseServerFlags,
      Split("--http 127.0.0.1 --http-threads 2 --transcoder handwritten --backend loopback --backend-target localhost "
            "--backend-channels 4 --backend-channel-policy pool:2 --backend-deadline 2 --messages arena"));
  ASSERT_TRUE(parsed.options && parsed.options->gateway) << parsed.text;
  const GatewayConfig& config = *parsed.options->gateway;
  EXPECT_EQ(config.listen.ToString(), "127.0.0.1:8080");
  EXPECT_EQ(config.threads, 2);
  EXPECT_EQ(config.transcoder, TranscoderKind::kHandwritten);
  EXPECT_EQ(config.backend, BackendKind::kLoopback);
  EXPECT_EQ(config.target->ToString(), "localhost:2137");
  EXPECT_EQ(config.channels, 4);
  EXPECT_EQ(config.policy.ToString(), "pool:2");
  EXPECT_EQ(config.deadline_ns, 2 * kNanosPerSecond);
  EXPECT_EQ(config.messages, MessageStrategy::kArena);
  EXPECT_FALSE(ParseWith(ParseServerFlags, {}).options->gateway);
}

TEST(ServerFlags, TheHttpFrontEndsFlagsNeedEachOther) {
  for (const char* flags : {"--http-threads 2", "--transcoder none", "--backend direct", "--backend-channels 2",
                            "--backend-target localhost", "--backend-channel-policy shared", "--backend-deadline 1"}) {
    Refused(Split(flags), {Split(flags)[0], "needs --http"});
  }
  Refused(Split("--http x:1 --backend-channels 2"), {"--backend-channels", "needs --backend loopback, not direct"});
  Refused(Split("--http x:1 --backend inprocess --backend-target y"), {"--backend-target", "not inprocess"});
  Refused(Split("--http x:1 --backend-deadline 1"), {"--backend-deadline", "not direct"});
  Refused(Split("--http x:1 --transcoder none --backend direct"), {"--backend", "--transcoder none"});
  RefusedValues("--http", {"unix:/tmp/x", "x:70000", ""});
  RefusedValues("--transcoder", {"go"}, {"--http", "x:1"});
  RefusedValues("--backend", {"proxy"}, {"--http", "x:1"});
  RefusedValues("--backend-channel-policy", {"many"}, {"--http", "x:1", "--backend", "loopback"});
  RefusedValues("--http-threads", {"0", "1025"}, {"--http", "x:1"});
}

TEST(ServerFlags, WhatGoesOverTheWire) {
  EXPECT_EQ(Config("").compression, Compression::kNone);
  EXPECT_EQ(Config("--compression deflate --api generic").compression, Compression::kDeflate);
  RefusedValues("--compression", {"call:gzip", "zstd"});
  std::map<std::string, int> args;
  for (const ChannelArg& arg : Config("--keepalive 5s --max-concurrent-streams 10").channel_args) {
    args[arg.key] = std::get<int>(arg.value);
  }
  args.erase(absl::StrCat("grpc.http2.", "ping_timeout_ms"));  // newer releases have this argument
  EXPECT_EQ(args, (std::map<std::string, int>{{"grpc.keepalive_time_ms", 5000},
                                              {"grpc.keepalive_permit_without_calls", 1},
                                              {"grpc.http2.max_pings_without_data", 0},
                                              {"grpc.http2.min_ping_interval_without_data_ms", 0},
                                              {"grpc.http2.max_ping_strikes", 0},
                                              {"grpc.max_concurrent_streams", 10}}));
  RefusedValues("--max-concurrent-streams", {"0", "-1", "2147483648", "many"});
  Refused({"--max-concurrent-streams", "1", "--channel-arg", "grpc.max_concurrent_streams=2"},
          {"--max-concurrent-streams: not together with --channel-arg grpc.max_concurrent_streams"});
}

}  // namespace
}  // namespace cqbench
