// Command lines that the client refuses: status 2 and one line that names the flag and the value.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/cli/client/client_flags.h"
#include "tests/unit/client_line.h"

namespace cqbench {
namespace {

TEST(ClientFlagsErrors, UnknownFlags) {
  Refused({"--no-such-flag"}, {"--no-such-flag"});
  Refused({"--inflght", "3"}, {"--inflght"});
  Refused({"-x"}, {"-x"});
  Refused({"stray"}, {"stray"});
  Refused({"--inflight", "1", "stray"}, {"stray"});
}

TEST(ClientFlagsErrors, AnUnknownFlagNamesTheOneThatWasMeant) {
  Refused({"--inflght", "3"}, {"--inflght: there is no such flag; did you mean --inflight?"});
  Refused({"--chanel-policy=shared"}, {"did you mean --channel-policy?"});
  Refused({"--wramup", "1"}, {"did you mean --warmup?"});
  Refused({"--api", "cq", "--recieve"}, {"--recieve: there is no such flag (see"});
  Refused({"-x", "1"}, {"-x: there is no such flag (see"});
}

TEST(ClientFlagsErrors, FlagsAboutAllocationsNameTheProgramThatCounts) {
  for (const char* flag : {"--allocation-sites", "--allocation-stacks=x", "--max-allocs-per-rpc=20"}) {
    Refused({flag}, {std::string(flag).substr(0, std::string(flag).find('=')), "grpc_ping_client_counting"});
  }
}

TEST(ClientFlagsErrors, FlagsOfOtherLoadGeneratorsNameTheirCounterparts) {
  Refused({"-c", "48"}, {"-c: there is no such flag; did you mean --inflight?"});
  Refused({"-z", "5s"}, {"did you mean --interval?"});
  Refused({"-n", "1000"}, {"did you mean --total?"});
  Refused({"-d", "5"}, {"did you mean --interval?"});
  Refused({"--connections=4"}, {"did you mean --channel-policy pool:N?"});
  Refused({"--qps", "100"}, {"did you mean --rate?"});
}

TEST(ClientFlagsErrors, TimeBucketsThatTheWindowHasNotOrMemoryMayNot) {
  Refused({"--time-bucket", "500us"}, {"--time-bucket", "500us"});
  Refused({"--time-bucket", "600ms", "--interval", "1s"}, {"--time-bucket: 600ms makes 1 of --interval 1s: 2 to 1000"});
  Refused({"--time-bucket", "1ms", "--interval", "2s"}, {"--time-bucket: 1ms makes 2000 of --interval 2s"});
  Refused({"--time-bucket", "1ms", "--interval", "1s", "--api", "sync", "--inflight", "26"},
          {"--time-bucket: 1ms makes 1000 for each of 26 threads: with --api sync at most 25000"});
}

TEST(ClientFlagsErrors, WaitingForAConnectionIsGrpcs) {
  Refused({"--api", "http1", "--http-request", "GET /x", "--wait-for-ready"},
          {"--wait-for-ready: needs --api sync, cq or callback, not http1"});
}

TEST(ClientFlagsErrors, RequestsOverHttp) {
  RefusedValues("--http-request", {"GET", "get /x", "GET x", "GET /a b", "GET /a#b", " /", "GET /\x7f"},
                {"--api", "http1"});
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--api", "http1", "--http-request", "GET /x"});
    return more;
  };
  Refused({"--api", "http2"}, {"--api: http2 has no request for ping unary: accepted are --http-request and "
                               "--workload library --method get, list, stream, create, update, delete"});
  Refused({"--api", "http1", "--workload", "echo"}, {"--api: http1 has no request for echo unary"});
  for (const char* flag : {"--messages=fresh", "--stub=generic", "--serializer=buffer-reusing"}) {
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    Refused({"--api", "http1", "--workload", "library", flag},
            {name + ": needs --api sync, cq or callback, not http1"});
  }
  Refused({"--api", "http1", "--workload", "library", "--stream-messages", "3"}, {"--stream-messages"});
  Refused({"--api", "http1", "--workload", "library", "--http-expect", "{}"}, {"--http-expect: needs --http-request"});
  Refused({"--http-request", "GET /x"}, {"--http-request: needs --api http1 or http2, not sync"});
  Refused({"--http-body", "x"}, {"--http-body: needs --http-request"});
  Refused(with({"--http-body", "@/no/such/file"}), {"--http-body", "/no/such/file"});
  Refused(with({"--http-expect", ""}), {"--http-expect: is empty"});
  Refused(with({"--http-expect", "@/no/such/file"}), {"--http-expect", "/no/such/file"});
  Refused({"--api", "http1", "--http-request", "HEAD /x", "--http-expect", "{}"}, {"--http-expect", "HEAD"});
  Refused(with({"--call", "a.B/C"}), {"--call"});
  Refused(with({"--workload", "echo"}), {"--workload"});
  Refused(with({"--serializer", "buffer-reusing"}), {"--serializer"});
  Refused(with({"--breakdown"}), {"--breakdown: needs --api sync, cq or callback, not http1"});
  Refused(with({"--channel-arg", "a=1"}), {"--channel-arg"});
  Refused(with({"-H", "host: x"}), {"--header", "'host'"});
  Refused(with({"-H", "a-bin: YQ=="}), {"--header", "'a-bin'"});
  Refused(with({"--channel-policy", "shared", "--inflight", "2"}), {"--channel-policy: shared makes 1 connection(s)"});
  Refused(with({"--channel-policy", "pool:3", "--inflight", "4"}), {"pool:3 makes 3 connection(s) for 4"});
}

TEST(ClientFlagsErrors, Control) {
  RefusedValues("--control", {"", "host", "host:0", "host:65536", "[::1"});
  Refused({"--control", "a:1,b"}, {"--control", "'b:0'"});
  Refused({"--control", "a:1", "--no-evidence"}, {"--control", "--no-evidence"});
  Refused({"--control", "a:1", "--server-pid", "1"}, {"--control", "--server-pid"});
}

TEST(ClientFlagsErrors, ValuesThatAreMissing) {
  for (const char* flag : {"--host", "--port", "--inflight", "--warmup", "--format", "--output", "--channel-arg"}) {
    Refused({flag}, {flag});
  }
}

TEST(ClientFlagsErrors, ValuesForSwitches) {
  Refused({"--streaming=maybe"}, {"--streaming"});
}

TEST(ClientFlagsErrors, Hosts) {
  RefusedValues("--host",
                {":1", "host:", "host:http", "host:65536", "host:0", "[::1", "two words", "dns:///host", "unix:"});
  Refused({"--host", ""}, {"--host"});
  Refused({"--host", "a,,b"}, {"--host", "''"});
  Refused({"--host", "a,b:0"}, {"--host", "b:0"});
  Refused({"--host", "a,b:x"}, {"--host", "b:x"});
}

TEST(ClientFlagsErrors, Ports) {
  RefusedValues("--port", {"0", "-1", "65536", "99999999999999999999", "http", "1.5"});
}

TEST(ClientFlagsErrors, Durations) {
  for (const char* flag : {"--warmup", "--interval", "--deadline", "--connect-timeout"}) {
    RefusedValues(flag, {"-1", "-1ms", "86401", "25h", "1e300", "inf", "nan", "soon", "10x", "1,5"});
    Refused({flag, ""}, {flag});
  }
  for (const char* flag : {"--interval", "--deadline", "--connect-timeout"}) RefusedValues(flag, {"0", "0ms"});
}

TEST(ClientFlagsErrors, Choices) {
  RefusedValues("--api", {"async", "CQ", "generic"});
  RefusedValues("--poll", {"busy"}, {"--api", "cq"});
  RefusedValues("--format", {"xml", "JSON"});
}

TEST(ClientFlagsErrors, Numbers) {
  RefusedValues("--threads", {"0", "-1", "4097", "two"}, {"--api", "cq"});
  RefusedValues("--max-async-clients", {"-1", "100001", "few"}, {"--async"});
  RefusedValues("--max-channels", {"0", "-1", "100001", "few"});
  RefusedValues("--max-error-rate", {"-0.1", "1.1", "5%", "nan", "inf"});
  RefusedValues("--max-allocs-per-rpc", {"-1", "x", "nan", "inf"});
}

TEST(ClientFlagsErrors, ChannelPolicies) {
  RefusedValues("--channel-policy", {"one", "pool", "pool:0", "pool:-1", "pool:10001", "pool:x", "Shared"});
}

TEST(ClientFlagsErrors, ChannelArgs) {
  RefusedValues("--channel-arg", {"key", "=value"});
}

TEST(ClientFlagsErrors, ServiceConfigs) {
  RefusedValues("--service-config", {"{", "[]", "7", "null", "\"text\"", "{\"a\":}"});
  Refused({"--service-config", ""}, {"--service-config"});
  Refused({"--service-config", "@/no/such/file.json"}, {"--service-config", "/no/such/file.json"});
  Refused({"--service-config", "@/"}, {"--service-config", "/"});
  Refused({"--service-config", "@"}, {"--service-config"});
  Refused({"--service-config", "{\n\"a\":\n}"}, {"--service-config"});
}

TEST(ClientFlagsErrors, ServiceConfigFilesWithoutJson) {
  const std::string path = absl::StrCat(testing::TempDir(), "cqbench_bad_service_config_", getpid());
  for (const std::string& content : {std::string(), std::string("not JSON"), std::string((1 << 20) + 1, ' ')}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    Refused({"--service-config", "@" + path}, {"--service-config"});
  }
  std::remove(path.c_str());
}

TEST(ClientFlagsErrors, ApisGivenTwice) {
  Refused(Split("--async --async-callback"), {"--async", "--async-callback"});
  Refused(Split("--async --api sync"), {"--async", "--api"});
  Refused(Split("--async-callback --api callback"), {"--async-callback", "--api"});
}

TEST(ClientFlagsErrors, FlagsOfAnotherApi) {
  Refused(Split("--poll spin"), {"--poll", "spin", "sync"});
  Refused(Split("--poll non-polling"), {"--poll", "non-polling", "sync"});
  Refused(Split("--poll spin --async-callback"), {"--poll", "spin", "callback"});
  Refused(Split("--threads 2"), {"--threads", "sync"});
  Refused(Split("--threads 2 --api callback"), {"--threads", "callback"});
  Refused(Split("--max-async-clients 2"), {"--max-async-clients", "--async"});
}

TEST(ClientFlagsErrors, FlagsOfAnotherPolicy) {
  Refused(Split("--local-pool --channel-policy shared"), {"--local-pool", "--channel-policy"});
  Refused(Split("--max-channels 2 --channel-policy shared"), {"--max-channels", "shared"});
  for (const char* flag : {"--evidence", "--breakdown", "--lower-bound"}) {
    Refused({flag, "--no-evidence"}, {flag, "--no-evidence"});
  }
  Refused(Split("--evidence --format json"), {"--evidence", "json"});
  Refused(Split("--max-channels 2 --channel-policy pool:3"), {"--max-channels", "pool:3"});
}

TEST(ClientFlagsErrors, BlocksBelowTheTableWithoutATable) {
  for (const char* format : {"csv", "json", "gobench"}) {
    Refused({"--format", format, "--with-csv"}, {"--with-csv", format});
    Refused({"--format", format, "--per-worker-stats"}, {"--per-worker-stats", format});
  }
}

TEST(ClientFlagsErrors, ValuesWithLineBreaksStayOnOneLine) {
  Refused({"--port", "1\n2"}, {"--port"});
  Refused({"--host", "a b\nc"}, {"--host"});
  Refused({"--channel-policy", "a\nb"}, {"--channel-policy"});
}

TEST(ClientFlagsErrors, WhatGoesOverTheWire) {
  RefusedValues("--compression", {"zstd", "call:none"});
  RefusedValues("--metadata", {"8", "8x0", "8x64:text"});
  RefusedValues("--keepalive", {"0", "1us", "1s,"});
  Refused({"--deadline", "never"}, {"--deadline", "'never'", "or none"});
  for (const char* flag : {"--compression=gzip", "--metadata=1x1", "--keepalive=1s"}) {
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    Refused({"--api", "http1", "--http-request", "GET /x", flag},
            {name + ": needs --api sync, cq or callback, not http1"});
  }
}

// A channel argument that has a flag of its own is refused.
TEST(ClientFlagsErrors, WireFlagsBesideTheirChannelArguments) {
  Refused({"--keepalive", "1s", "--channel-arg", "grpc.keepalive_time_ms=5"},
          {"--keepalive: not together with --channel-arg grpc.keepalive_time_ms"});
  for (const char* key : {"grpc.default_compression_algorithm", "grpc.minimal_stack"}) {
    Refused({"--compression", "gzip", "--channel-arg", absl::StrCat(key, "=1")},
            {absl::StrCat("--compression: not together with --channel-arg ", key)});
    EXPECT_EQ(Options({"--channel-arg", absl::StrCat(key, "=1")}).run.channel_args.size(), 1u);
  }
}

}  // namespace
}  // namespace cqbench
