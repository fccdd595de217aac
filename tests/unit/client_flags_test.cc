// Command lines that the client accepts, and their meaning.
#include "src/cli/client/client_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tests/unit/client_line.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Kind = ChannelPolicy::Kind;

TEST(ClientFlags, DefaultsAreThoseOfThePost) {
  const ClientOptions options = Options("");
  const RunConfig& run = options.run;
  EXPECT_THAT(Texts(run.targets), ElementsAre("localhost:2137"));
  EXPECT_EQ(run.method.path, "/Ydb.Debug.V1.DebugService/PingPlainGrpc");
  EXPECT_EQ(run.messages, MessageStrategy::kReused);
  EXPECT_EQ(run.stub, StubKind::kGenerated);
  EXPECT_EQ(run.api, ClientApi::kSync);
  EXPECT_EQ(run.poll, PollMode::kBlock);
  EXPECT_EQ(run.policy.ToString(), "per-slot");
  EXPECT_EQ(run.policy.max_channels, 0);
  EXPECT_THAT(run.points, ElementsAre(Load{32, 0}));
  EXPECT_EQ(run.threads, 0);
  EXPECT_EQ(run.warmup_ns, kNanosPerSecond);
  EXPECT_EQ(run.interval_ns, 10 * kNanosPerSecond);
  EXPECT_EQ(run.deadline_ns, kNanosPerSecond);
  EXPECT_EQ(run.connect_timeout_ns, 5 * kNanosPerSecond);
  EXPECT_EQ(run.repetitions, 1);
  EXPECT_EQ(run.message.request_bytes, 0u);
  EXPECT_EQ(run.message.response_bytes, 0u);
  EXPECT_TRUE(options.goals.objective.empty());
  EXPECT_FALSE(options.goals.find_rate);
  EXPECT_TRUE(run.channel_args.empty());
  EXPECT_EQ(run.service_config, "");
  EXPECT_EQ(options.format, Format::kTable);
  EXPECT_EQ(options.output, "");
  EXPECT_FALSE(options.with_csv);
  EXPECT_FALSE(options.per_worker_stats);
  EXPECT_EQ(options.max_error_rate, 0);
  EXPECT_FALSE(options.deadlock_detection);
}

TEST(ClientFlags, SweepOfThePostWorksAsPrinted) {
  const ClientOptions options =
      Options("--host server-host --min-inflight 1 --max-inflight 48 --warmup 5 --interval 10 --with-csv");
  EXPECT_EQ(options.run.targets.at(0).ToString(), "server-host:2137");
  ASSERT_THAT(options.run.points, SizeIs(48));
  EXPECT_EQ(options.run.points.front(), (Load{1, 0}));
  EXPECT_EQ(options.run.points.back(), (Load{48, 0}));
  EXPECT_EQ(options.run.warmup_ns, 5 * kNanosPerSecond);
  EXPECT_EQ(options.run.interval_ns, 10 * kNanosPerSecond);
  EXPECT_TRUE(options.with_csv);
  EXPECT_EQ(options.run.method.shape, Shape::kUnary);
  EXPECT_EQ(options.run.policy.kind, Kind::kPerSlot);
}

TEST(ClientFlags, StreamingSweepWithLocalPoolOfThePostWorksAsPrinted) {
  const ClientOptions options = Options(
      "--host server-host --min-inflight 1 --max-inflight 48 --warmup 5 --interval 10 --with-csv --streaming "
      "--local-pool");
  EXPECT_EQ(options.run.method.name, "streaming");
  EXPECT_EQ(options.run.policy.kind, Kind::kLocalPool);
  EXPECT_THAT(options.run.points, SizeIs(48));
}

TEST(ClientFlags, SinglePointWithPortWorks) {
  const ClientOptions options = Options("--host server-host --port 50051 --inflight 7");
  EXPECT_EQ(options.run.targets.at(0).ToString(), "server-host:50051");
  EXPECT_THAT(options.run.points, ElementsAre(Load{7, 0}));
}

TEST(ClientFlags, AsyncIsCqAndAsyncCallbackIsCallback) {
  EXPECT_EQ(Options("--async").run.api, ClientApi::kCq);
  EXPECT_EQ(Options("--async --streaming").run.api, ClientApi::kCq);
  EXPECT_EQ(Options("--async --streaming").run.method.name, "streaming");
  EXPECT_EQ(Options("--async-callback").run.api, ClientApi::kCallback);
  for (const char* api : {"sync", "cq", "callback"}) {
    EXPECT_EQ(ToString(Options(absl::StrCat("--api ", api)).run.api), api);
  }
}

TEST(ClientFlags, RequestsOverHttp) {
  const RunConfig one =
      Options(Arguments{"--api", "http1", "--http-request", "GET /v1/x?a=%20b", "--inflight", "4"}).run;
  ASSERT_NE(one.http, nullptr);
  EXPECT_EQ(one.http->method, "GET");
  EXPECT_EQ(one.http->target, "/v1/x?a=%20b");
  EXPECT_EQ(one.policy.kind, ChannelPolicy::Kind::kLocalPool) << "a connection for each call in flight";
  EXPECT_EQ(one.method.workload, "http");
  const RunConfig two = Options(Arguments{"--api", "http2", "--http-request", "POST /y", "--http-body", "{}"}).run;
  EXPECT_EQ(two.http->body, "{}");
  EXPECT_EQ(two.policy.kind, ChannelPolicy::Kind::kPerSlot);
  EXPECT_EQ(two.http->expected, "") << "any body is right";
  EXPECT_EQ(Options(Arguments{"--api", "http2", "--http-request", "GET /y", "--http-expect", "{ }"}).run.http->expected,
            "{ }");
  EXPECT_EQ(Options("").run.http, nullptr);
}

TEST(ClientFlags, MethodsOverHttpAreTheirRequests) {
  const RunConfig get = Options("--api http2 --workload library --method get").run;
  ASSERT_NE(get.http, nullptr);
  EXPECT_EQ(get.http->method, "GET");
  EXPECT_EQ(get.http->target, "/v1/shelves/1/books/1");
  EXPECT_THAT(get.http->expected, HasSubstr("shelves/1/books/1"));
  EXPECT_EQ(get.method.path, "/cqbench.library.v1.LibraryService/GetBook") << "the series stays the method's";
  for (const MethodInfo& method : AllMethodInfos()) {
    if (method.workload != "library") continue;
    const RunConfig run = Options("--api http1 --workload library --method " + method.name).run;
    ASSERT_NE(run.http, nullptr) << method.name;
    EXPECT_THAT(run.http->target, testing::StartsWith("/v1/shelves/1/books")) << method.name;
    EXPECT_NE(run.http->expected, "") << method.name;
  }
  const RunConfig stream = Options("--api http1 --workload library --method stream --stream-messages 3").run;
  EXPECT_THAT(stream.http->target, HasSubstr("page_size=3"));
}

TEST(ClientFlags, ControlIsWhereTheServersAreAsked) {
  EXPECT_THAT(Options("").run.control, testing::IsEmpty()) << "at the targets";
  const RunConfig run =
      Options(Arguments{"--api", "http1", "--http-request", "GET /x", "--control", "a:1,[::1]:2,unix:/s"}).run;
  EXPECT_THAT(Texts(run.control), ElementsAre("a:1", "[::1]:2", "unix:/s"));
  EXPECT_THAT(Options("--control proxied:3").run.control, SizeIs(1)) << "gRPC's, too";
}

TEST(ClientFlags, MaxAsyncClientsBoundsThreadsAndChannels) {
  const RunConfig cq = Options("--async --max-async-clients 4").run;
  EXPECT_EQ(cq.threads, 4);
  EXPECT_EQ(cq.policy.max_channels, 4);
  const RunConfig callback = Options("--async-callback --max-async-clients 4").run;
  EXPECT_EQ(callback.threads, 0);
  EXPECT_EQ(callback.policy.max_channels, 4);
  EXPECT_EQ(Options("--async --max-async-clients 4 --max-channels 2").run.policy.max_channels, 2);
  EXPECT_EQ(Options("--async --max-async-clients 2 --max-channels 4").run.policy.max_channels, 2);
  EXPECT_EQ(Options("--async --max-async-clients 0").run.threads, 0);
  EXPECT_EQ(Options("--async --max-async-clients 0").run.policy.max_channels, 0);
  EXPECT_EQ(Options("--async --max-async-clients 4 --threads 2").run.threads, 2);
}

TEST(ClientFlags, MaxChannelsBoundsPoliciesWithAChannelPerSlot) {
  EXPECT_EQ(Options("--max-channels 3").run.policy.max_channels, 3);
  EXPECT_EQ(Options("--local-pool --max-channels 3").run.policy.max_channels, 3);
  EXPECT_EQ(Options("--channel-policy distinct-args --max-channels 3").run.policy.max_channels, 3);
}

TEST(ClientFlags, TimeBucketsAndWaitingForAConnectionAreAsked) {
  const RunConfig run = Options("--time-bucket 10ms --interval 4s --api cq --wait-for-ready").run;
  EXPECT_EQ(run.bucket_ns, 10 * kNanosPerMilli);
  EXPECT_TRUE(run.wait_for_ready);
  EXPECT_EQ(Options("--interval 4s").run.bucket_ns, 0);
  EXPECT_FALSE(Options("--interval 4s").run.wait_for_ready);
}

TEST(ClientFlags, HostsAreSeparatedByCommasAndMayCarryPorts) {
  const RunConfig run = Options("--host a,b:1000,[::1]:1001,::1,unix:/run/s --port 99").run;
  EXPECT_THAT(Texts(run.targets), ElementsAre("a:99", "b:1000", "[::1]:1001", "[::1]:99", "unix:/run/s"));
  EXPECT_THAT(Texts(Options("--host [::1]").run.targets), ElementsAre("[::1]:2137"));
}

TEST(ClientFlags, ChannelPolicies) {
  for (const char* policy : {"shared", "per-slot", "distinct-args", "local-pool", "pool:12"}) {
    EXPECT_EQ(Options(absl::StrCat("--channel-policy ", policy)).run.policy.ToString(), policy);
  }
}

TEST(ClientFlags, DurationsAreSecondsOrCarryAUnit) {
  const RunConfig run = Options("--warmup 0.5 --interval 1m --deadline 250ms --connect-timeout 1e-1").run;
  EXPECT_EQ(run.warmup_ns, 500 * kNanosPerMilli);
  EXPECT_EQ(run.interval_ns, 60 * kNanosPerSecond);
  EXPECT_EQ(run.deadline_ns, 250 * kNanosPerMilli);
  EXPECT_EQ(run.connect_timeout_ns, 100 * kNanosPerMilli);
  EXPECT_EQ(Options("--warmup 0").run.warmup_ns, 0) << "may be left out";
}

TEST(ClientFlags, PollSpinWithCq) {
  EXPECT_EQ(Options("--api cq --poll spin --threads 3").run.poll, PollMode::kSpin);
  EXPECT_EQ(Options("--async --poll spin").run.poll, PollMode::kSpin);
  EXPECT_EQ(Options("--async --poll non-polling").run.poll, PollMode::kNonPolling);
  EXPECT_EQ(Options("--api cq --threads 3").run.threads, 3);
}

TEST(ClientFlags, ChannelArgsRepeat) {
  const RunConfig run = Options("--channel-arg a=1 --channel-arg b=two --channel-arg c=[1,2]").run;
  ASSERT_THAT(run.channel_args, SizeIs(3));
  EXPECT_EQ(run.channel_args[0].key, "a");
  EXPECT_EQ(std::get<int>(run.channel_args[0].value), 1);
  EXPECT_EQ(std::get<std::string>(run.channel_args[1].value), "two");
  EXPECT_EQ(std::get<std::string>(run.channel_args[2].value), "[1,2]");
}

TEST(ClientFlags, ServiceConfigIsJsonOrAFileWithIt) {
  const std::string json = R"({"loadBalancingConfig": [{"round_robin": {}}]})";
  EXPECT_EQ(Options({"--service-config", json}).run.service_config, json);
  const std::string path = absl::StrCat(testing::TempDir(), "cqbench_service_config_", getpid(), ".json");
  std::ofstream(path) << json;
  EXPECT_EQ(Options({"--service-config", "@" + path}).run.service_config, json);
  std::remove(path.c_str());
}

TEST(ClientFlags, OutputAndFormat) {
  const auto format_of = [](const char* name) { return Options(absl::StrCat("--format ", name)).format; };
  EXPECT_EQ(format_of("table"), Format::kTable);
  EXPECT_EQ(format_of("csv"), Format::kCsv);
  EXPECT_EQ(format_of("json"), Format::kJson);
  EXPECT_EQ(format_of("gobench"), Format::kGoBench);
  EXPECT_EQ(Options("--output result.json").format, Format::kJson);
  EXPECT_EQ(Options("--output a/result.csv").format, Format::kCsv);
  EXPECT_EQ(Options("--output result.txt").format, Format::kTable);
  EXPECT_EQ(Options("--output result.json --format gobench").format, Format::kGoBench);
  const ClientOptions options = Options("--format json --output result.json --with-csv --per-worker-stats");
  EXPECT_EQ(options.output, "result.json");
  EXPECT_TRUE(options.per_worker_stats);
  EXPECT_TRUE(options.with_csv) << "the table is on standard output, so the block has its place";
}

TEST(ClientFlags, EvidenceIsTakenUnlessForbiddenAndShownWhenAskedFor) {
  EXPECT_TRUE(Options("").run.evidence);
  EXPECT_FALSE(Options("").show_evidence);
  EXPECT_TRUE(Options("--evidence").show_evidence);
  EXPECT_FALSE(Options("--no-evidence").run.evidence);
  EXPECT_FALSE(Options("").run.breakdown);
  EXPECT_TRUE(Options("--breakdown").run.breakdown);
  EXPECT_FALSE(Options("").run.lower_bound);
  EXPECT_TRUE(Options("--lower-bound").run.lower_bound);
}

TEST(ClientFlags, ErrorRateAndRepetitions) {
  EXPECT_DOUBLE_EQ(Options("--max-error-rate 0.01").max_error_rate, 0.01);
  EXPECT_DOUBLE_EQ(Options("--max-error-rate 1").max_error_rate, 1);
  EXPECT_EQ(Options("--repetitions 5").run.repetitions, 5);
  EXPECT_TRUE(Options("--deadlock-detection").deadlock_detection);
}

TEST(ClientFlags, EqualsSignMayJoinFlagAndValue) {
  EXPECT_THAT(Options("--inflight=9").run.points, ElementsAre(Load{9, 0}));
  EXPECT_EQ(Options("--host=h:1").run.targets.at(0).ToString(), "h:1");
}

// --help is one screen: the most important flags, and the names of all others. Each flag's description is one line.
TEST(ClientFlags, HelpIsShortAndHelpAllHasALineForEachFlag) {
  const std::string first = ParseWith(ParseClientFlags, {"--help"}).text;
  EXPECT_LE(std::count(first.begin(), first.end(), '\n'), 45);
  EXPECT_THAT(first, HasSubstr("Load:"));
  EXPECT_THAT(first, HasSubstr("--max-repetitions"));
  EXPECT_THAT(first, Not(HasSubstr("\nOptions:")));
  const std::string all = ParseWith(ParseClientFlags, {"--help-all"}).text;
  for (const absl::string_view line : absl::StrSplit(all, '\n')) EXPECT_LE(line.size(), 140u) << line;
}

TEST(ClientFlags, HelpNamesEveryFlagAndExitsWithZero) {
  const auto parsed = ParseWith(ParseClientFlags, {"--help-all"});
  EXPECT_FALSE(parsed.options.has_value());
  EXPECT_EQ(parsed.exit_code, 0);
  const std::string flags =
      "--host --port --inflight --min-inflight --max-inflight --inflight-step --inflight-list --warmup "
      "--interval --deadline --connect-timeout --wait-for-server --wait-for-ready --time-bucket --with-csv "
      "--streaming --local-pool --max-channels --async --async-callback --max-async-clients "
      "--per-worker-stats --api --threads --poll --channel-policy --channel-arg --service-config --workload "
      "--request-bytes --response-bytes --method --stream-messages --messages --stub --payload "
      "--payload-seed --rate --rate-list --min-rate --max-rate --rate-step --arrivals --seed "
      "--max-outstanding --at-limit --pace --objective --find-rate --repetitions --until-stable "
      "--max-repetitions --evidence --no-evidence --breakdown --lower-bound --format --output --max-error-rate "
      "--deadlock-detection --version";
  for (const std::string& flag : Split(flags)) {
    EXPECT_THAT(parsed.text, HasSubstr(flag));
  }
}

TEST(ClientFlags, VersionIsOneLineAndExitsWithZero) {
  const auto parsed = ParseWith(ParseClientFlags, {"--version"});
  EXPECT_FALSE(parsed.options.has_value());
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.text, testing::MatchesRegex("grpc_ping_client [^\n]*gRPC [^\n]*protobuf [^\n]*\n"));
}

TEST(ClientFlags, WhatGoesOverTheWire) {
  const RunConfig plain = Options("").run;
  EXPECT_EQ(plain.compression, ClientCompression());
  EXPECT_EQ(plain.generated_metadata, GeneratedMetadata());
  const RunConfig run = Options("--compression call:gzip --metadata 8x64:bin --deadline none --keepalive 10s,2s").run;
  EXPECT_EQ(run.compression, (ClientCompression{Compression::kGzip, true}));
  EXPECT_EQ(run.generated_metadata, (GeneratedMetadata{8, 64, true, false}));
  EXPECT_EQ(run.deadline_ns, std::nullopt);
  std::map<std::string, int> args;
  for (const ChannelArg& arg : run.channel_args) args[arg.key] = std::get<int>(arg.value);
  args.erase(absl::StrCat("grpc.http2.", "ping_timeout_ms"));  // newer releases have this argument
  EXPECT_EQ(args, (std::map<std::string, int>{{"grpc.keepalive_time_ms", 10'000},
                                              {"grpc.keepalive_timeout_ms", 2000},
                                              {"grpc.keepalive_permit_without_calls", 1},
                                              {"grpc.http2.max_pings_without_data", 0}}));
}

// The client accepts the flag, as the server may allow more.
TEST(ClientFlags, MoreMetadataThanIsUsuallyTakenIsSaid) {
  EXPECT_THAT(Options("--metadata 8x64").notes, testing::IsEmpty());
  EXPECT_THAT(Options("--metadata 8x1KiB").notes,
              testing::ElementsAre(testing::HasSubstr("--metadata: 8x1024 is 9120 bytes")));
}

}  // namespace
}  // namespace cqbench
