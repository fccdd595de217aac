// Other things on the wire: compression, metadata, deadlines, pings, limits on streams.

#include <gmock/gmock.h>
#include <grpcpp/version_info.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/in_process_server.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

// A way to compress requests; each server kind uses another.
struct Way {
  const char* server_api;
  Flags client;
  const char* compression;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.server_api << " " << way.compression;
}

class CompressionTest : public testing::TestWithParam<Way> {};

// A byte has two bits of entropy: no code takes less than a quarter of the size, and deflate takes little more.
TEST_P(CompressionTest, BothEndsCompressWhatCanBe) {
  const Way& way = GetParam();
  Server server({"--api", way.server_api, "--compression", "gzip"});
  const Flags both = Flags{"--host",           server.address(), "--workload", "echo", "--request-bytes", "4KiB",
                           "--response-bytes", "4KiB",           "--inflight", "2",    "--format",        "json"} +
                     way.client + Flags{"--compression", way.compression} + ShortInterval();
  const ClientRun run = RunClient(both + Flags{"--payload", "entropy:2"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json point = run.Point();
  ASSERT_TRUE(point.is_object());
  EXPECT_EQ(point.at("failed"), 0) << point;
  for (const char* key : {"client_bytes_sent_per_payload_byte", "client_bytes_received_per_payload_byte"}) {
    EXPECT_GT(point.at(key), 0.2) << key;
    EXPECT_LT(point.at(key), 0.45) << key;
  }
  const Json context = run.Parsed().at("context");
  EXPECT_EQ(context.at("compression"), way.compression);
  EXPECT_EQ(context.at("payload"), "entropy:2");
  EXPECT_EQ(context.at("servers").at(0).at("compression"), "gzip");
  // The library sends messages as they are if compression would not shorten them.
  const Json random = RunClient(both + Flags{"--payload", "random"}).Point();
  ASSERT_TRUE(random.is_object());
  EXPECT_EQ(random.at("failed"), 0) << random;
  EXPECT_GT(random.at("client_bytes_sent_per_payload_byte"), 0.9);
  EXPECT_LT(random.at("client_bytes_sent_per_payload_byte"), 1.2);
}

INSTANTIATE_TEST_SUITE_P(All, CompressionTest,
                         testing::Values(Way{"cq", {"--api", "cq"}, "gzip"},
                                         Way{"callback", {"--api", "callback"}, "call:deflate"},
                                         Way{"sync", {"--api", "sync", "--messages", "bytes"}, "deflate"},
                                         Way{"generic", {"--api", "cq", "--messages", "bytes"}, "call:gzip"}),
                         [](const testing::TestParamInfo<Way>& tested) {
                           return std::string(tested.param.server_api) + "Server";
                         });

// gRPC's core never indexes a user's metadata in HPACK, so it costs its full length in each call.
TEST(CompressedRequestTest, AServerThatTakesNoneIsNamed) {
  Server server;
  const ClientRun run = RunClient(
      Flags{"--host", server.address(), "--workload", "echo", "--request-bytes", "4KiB", "--compression", "deflate"} +
      ShortInterval());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, testing::HasSubstr(
                           "takes no compressed requests (grpc_ping_server: --compression or --accept-compressed)"));
}

// Methods with a payload have a limit of their own, and of two equal channel arguments the library takes the first.
TEST(MaxMessageBytesTest, HoldsForPayloads) {
  Server server;
  const ClientRun run = RunClient(Flags{"--host", server.address(), "--workload", "echo", "--response-bytes", "4KiB",
                                        "--max-message-bytes", "1KiB", "--format", "json"} +
                                  ShortInterval());
  EXPECT_EQ(run.exit_code, 1);
  const Json point = run.Point();
  ASSERT_TRUE(point.is_object()) << run.err;
  EXPECT_EQ(point.at("completed"), 0);
  EXPECT_GT(CountOf(point, "RESOURCE_EXHAUSTED"), 0u) << point;
}

TEST(MetadataTest, CostsItsLengthWithEveryCall) {
  const auto sent = [](const Flags& more) {
    const Json point =
        RunClient(Flags{"--host", SharedServer("cq").address(), "--api", "cq", "--inflight", "2", "--format", "json"} +
                  ShortInterval() + more)
            .CleanPoint();
    return point.at("client_bytes_sent_per_rpc").get<double>();
  };
  const double without = sent({});
  for (const char* metadata : {"8x64", "8x64:changing", "8x64:bin,changing"}) {
    EXPECT_GT(sent({"--metadata", metadata}) - without, 0.9 * 8 * 64) << metadata;
  }
}

// Refuses all calls and records their deadlines and metadata.
class Recording final : public grpc::CallbackGenericService {
 public:
  struct Call {
    std::map<std::string, std::string> made;
    bool has_deadline = false;
  };
  std::vector<Call> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

 private:
  struct Refusal final : grpc::ServerGenericBidiReactor {
    Refusal() { Finish({grpc::StatusCode::PERMISSION_DENIED, "recorded"}); }
    void OnDone() override { delete this; }
  };
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    Call call;
    for (const auto& [key, value] : context->client_metadata()) {
      if (key.starts_with("cqbench-"))
        call.made.emplace(std::string(key.data(), key.size()), std::string(value.data(), value.size()));
    }
    call.has_deadline = context->deadline() != std::chrono::system_clock::time_point::max();
    const std::lock_guard lock(mutex_);
    if (context->method().find("Debug") != std::string::npos) calls_.push_back(std::move(call));
    return new Refusal;
  }
  std::mutex mutex_;
  std::vector<Call> calls_;  // guarded by mutex_
};

TEST(MetadataTest, IsWhatWasAskedForThroughEveryApi) {
  Recording service;
  const InProcessServer server(service);
  for (const std::string& api : kClientApis) {
    for (const char* metadata : {"3x20", "2x100:bin,changing"}) {
      SCOPED_TRACE(api + " " + metadata);
      RunClient({"--host", server.address(), "--api", api, "--inflight", "3", "--warmup", "0", "--interval", "100ms",
                 "--deadline", "none", "--metadata", metadata});
      const std::vector<Recording::Call> calls = service.Take();
      const bool changing = std::string(metadata).ends_with("changing");
      std::set<std::string> values;
      ASSERT_GE(calls.size(), 6u);
      for (const Recording::Call& call : calls) {
        EXPECT_FALSE(call.has_deadline);
        EXPECT_EQ(call.made.size(), changing ? 2u : 3u);
        for (const auto& [key, value] : call.made) {
          EXPECT_EQ(value.size(), changing ? 100u : 20u);
          EXPECT_EQ(key.ends_with("-bin"), changing);
          values.insert(value);
        }
      }
      EXPECT_EQ(values.size(), changing ? calls.size() : 1u);
    }
  }
}

// Calls without a deadline to a server that was stopped: only the missing response to a ping ends them. The calls that
// follow must not wait for a connection.
TEST(KeepaliveTest, EndsCallsThatNobodyAnswers) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to stop the server cannot be told";
  Server server({"--keepalive", "1s"});
  Process client(ClientCommand({"--host",
                                server.address(),
                                "--api",
                                "cq",
                                "--inflight",
                                "2",
                                "--warmup",
                                "0",
                                "--interval",
                                "3",
                                "--deadline",
                                "none",
                                "--keepalive",
                                "100ms,200ms",
                                "--channel-arg",
                                "grpc.min_reconnect_backoff_ms=200",
                                "--max-error-rate",
                                "1",
                                "--format",
                                "json"}),
                 {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  server.process().Signal(SIGSTOP);
  const ClientRun run = Finish(client);
  server.process().Signal(SIGCONT);
  const Json point = run.Point();
  ASSERT_TRUE(point.is_object());
  EXPECT_GE(CountOf(point, "UNAVAILABLE"), 2u) << point;
  EXPECT_FALSE(run.Parsed().at("context").contains("deadline_ns"));
}

// Two calls at a time that take at least 10 ms each: at most 200 a second, for any number in flight. A client of gRPC
// 1.83 begins the next call before the server has counted the last one as ended: the server refuses such a call (code
// 7).
TEST(MaxConcurrentStreamsTest, KeepsFurtherCallsBack) {
  Server server(
      {"--api", "sync", "--max-concurrent-streams", "2", "--service-time", "10ms", "--service-time-mode", "wait"});
  const ClientRun run =
      RunClient({"--host", server.address(), "--inflight", "8", "--warmup", "0", "--total", "60", "--interval", "50",
                 "--deadline", "50", "--max-error-rate", "1", "--format", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json point = run.Point();
  ASSERT_TRUE(point.is_object());
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 60
  EXPECT_EQ(point.at("failed"), 0) << point;
#else
  for (const Json& error : point.at("errors")) {
    EXPECT_THAT(error.at("first_message").get<std::string>(), testing::HasSubstr("RST_STREAM with error code 7"));
  }
  EXPECT_GT(point.at("completed"), 30) << point;
#endif
  EXPECT_LE(point.at("throughput_per_second"), 210) << point;
  // The client knows the limit from the server's settings, and says what follows.
  const Json settings = run.Parsed().at("context").at("peer_settings");
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings[0].at("target"), server.address());
  EXPECT_EQ(settings[0].at("max_concurrent_streams"), 2);
  EXPECT_GE(settings[0].at("max_frame_bytes"), 16'384);
  EXPECT_FALSE(settings[0].contains("not_read"));
  EXPECT_THAT(point.at("notes").dump(),
              testing::HasSubstr("the server allows 2 concurrent stream(s) per connection: 8 calls in flight on 1 "
                                 "connection(s) wait for a stream"));
}

TEST(MaxConcurrentStreamsTest, AreReadOnlyForEvidence) {
  const Server server({"--max-concurrent-streams", "2"});
  const Flags flags = Flags{"--host", server.address(), "--inflight", "2", "--format", "json"} + ShortInterval();
  const ClientRun with = RunClient(flags), without = RunClient(flags + Flags{"--no-evidence"});
  EXPECT_EQ(with.Parsed().at("context").at("peer_settings")[0].at("max_concurrent_streams"), 2);
  EXPECT_THAT(with.Point().at("notes").dump(), testing::Not(testing::HasSubstr("stream-limit")))
      << "2 may be in flight";
  EXPECT_FALSE(without.Parsed().at("context").contains("peer_settings"));
}

TEST(MaxConcurrentStreamsTest, EachServerAndKindOfAddressIsRead) {
  const std::string path = absl::StrCat(testing::TempDir(), "/settings-", getpid(), ".sock");
  const Server one({"--max-concurrent-streams", "3"}), two({"--listen", absl::StrCat("unix:", path)});
  const ClientRun run =
      RunClient(Flags{"--host", absl::StrCat("unix:", path, ",", one.address()), "--inflight", "8", "--evidence"} +
                ShortInterval());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::ContainsRegex("HTTP/2 settings of the server at unix:.*: .* initial window "));
  EXPECT_THAT(run.out, testing::HasSubstr(absl::StrCat("HTTP/2 settings of the server at ", one.address(),
                                                       ": 3 concurrent stream(s) per connection, ")));
}

}  // namespace
}  // namespace cqbench::smoke
