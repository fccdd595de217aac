// The client over HTTP against the HTTP front end: client and server count the same; failures of every kind.
#include <csignal>

#include "tests/smoke/harness.h"
#include "tests/smoke/http_front_end.h"

namespace cqbench::smoke {
namespace {

class HttpClientTest : public testing::TestWithParam<const char*> {
 protected:
  Flags To(const HttpFrontEnd& front_end, const std::string& request, const Flags& more = {}) {
    return Flags{"--host", "127.0.0.1:" + front_end.port(), "--api", GetParam(), "--http-request", request, "--format",
                 "json"} +
           more;
  }
  Json Measured(const std::string& request, const Flags& more) {
    const ClientRun run = RunClient(To(front_end_, request, more));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.Point();
  }
  // Runs the client with requests that all fail.
  Json Failing(const std::string& request, const std::string& deadline = "15") {
    const ClientRun run = RunClient(
        To(front_end_, request, {"--inflight", "2", "--warmup", "0s", "--interval", "500ms", "--deadline", deadline}));
    EXPECT_EQ(run.exit_code, 1) << run.err;
    const Json point = run.Point();
    ExpectIdentities(point);
    EXPECT_EQ(point.at("calls_ok"), 0);
    return point;
  }
  bool http2() const { return std::string(GetParam()) == "http2"; }

  HttpFrontEnd front_end_{{"--threads", "2"}};
};

TEST_P(HttpClientTest, TheServerHasAnsweredWhatTheClientCounts) {
  const Json point =
      Measured("GET /constant", {"--inflight", "4", "--warmup", "0s", "--total", "2000", "--interval", "60"});
  ExpectClean(point);
  ExpectIdentities(point);
  EXPECT_GE(point.at("calls_ok"), 2000);
  EXPECT_EQ(point.at("connections"), http2() ? 1 : 4);
  const std::string counted = front_end_.Stop();
  const auto number = [&](const std::string& key) {
    return std::stoull(counted.substr(counted.find(key) + key.size()));
  };
  EXPECT_GE(number("2xx="), point.at("calls_ok").get<uint64_t>()) << counted;
  EXPECT_LE(number("2xx="), point.at("calls_ok").get<uint64_t>() + 8) << "those that ended outside of the window";
  EXPECT_EQ(number("http2="), http2() ? number("2xx=") : 0) << counted;
}

TEST_P(HttpClientTest, EveryKindOfAnswerIsTaken) {
  const Flags briefly = {"--inflight", "3", "--warmup", "0s", "--total", "50", "--interval", "60"};
  ExpectClean(Measured("POST /echo", briefly + Flags{"--http-body", std::string(100'000, 'x')}));
  ExpectClean(Measured("HEAD /constant", briefly));
  ExpectClean(Measured("GET /bytes?3000000", briefly));
  ExpectClean(Measured("GET /lines?30", briefly));
  ExpectClean(Measured("GET /status?204", briefly));
  ExpectClean(Measured("GET /later?1", briefly));
}

TEST_P(HttpClientTest, MethodsOfTheLibraryAreAskedForAndChecked) {
  for (const char* method : {"get", "list", "stream", "create", "update", "delete"}) {
    SCOPED_TRACE(method);
    const ClientRun run = RunClient({"--host", "127.0.0.1:" + front_end_.port(), "--api", GetParam(), "--workload",
                                     "library", "--method", method, "--inflight", "3", "--warmup", "0s", "--total",
                                     "50", "--interval", "60", "--format", "json"});
    run.CleanPoint();
    const Json context = run.Parsed().at("context");
    EXPECT_EQ(context.at("workload"), "library");
    EXPECT_EQ(context.at("method"), method);
    EXPECT_EQ(context.at("http_version"), http2() ? "h2c" : "HTTP/1.1");
    const Json settings = context.at("peer_settings").at(0);
    EXPECT_EQ(settings.contains("not_read"), !http2()) << settings;
    EXPECT_EQ(settings.contains("max_concurrent_streams"), http2()) << settings;
  }
}

TEST_P(HttpClientTest, AnswersThatAreNotTheExpectedOneAreFailures) {
  const auto echoed = [&](const std::string& body, const std::string& expected) {
    const ClientRun run = RunClient(
        To(front_end_, "POST /echo",
           {"--http-body", body, "--http-expect", expected, "--inflight", "4", "--warmup", "0s", "--interval", "1"}));
    const Json point = run.Point();
    ExpectIdentities(point);
    return point;
  };
  ExpectClean(echoed(R"({"a": [1, 2]})", R"({"a":[1,2]})"));
  const std::string large(100'000, 'x');  // an argument may not be much longer
  ExpectClean(echoed(large, large));
  for (const std::string& body : {large.substr(1), large + "x", "y" + large.substr(1)}) {
    const Json point = echoed(body, large);
    EXPECT_EQ(point.at("calls_ok"), 0);
    EXPECT_GT(CountOf(point, "BAD_RESPONSE"), 0u);
    EXPECT_EQ(CountOf(point, "BAD_RESPONSE"), point.at("failed"));
  }
}

TEST_P(HttpClientTest, EvidenceIsOfBothEnds) {
  Server& server = SharedServer("cq");
  const ClientRun run = RunClient(
      To(front_end_, "GET /constant", ShortInterval() + Flags{"--inflight", "2", "--control", server.address()}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json point = run.Point();
  EXPECT_GT(point.at("client_cores_used"), 0);
  EXPECT_GE(point.at("client_threads_workers"), 1);
  EXPECT_EQ(point.at("client_connections"), http2() ? 1 : 2);
  EXPECT_GT(point.at("client_bytes_received"), 0);
  EXPECT_GT(point.at("server_rss_bytes"), 0);
  EXPECT_EQ(run.Parsed().at("context").at("servers").at(0).at("address"), server.address());
  const Json without = Measured("GET /constant", ShortInterval());
  EXPECT_FALSE(without.contains("server_rss_bytes"));
}

// The project's own server with its HTTP front end; the client gets the server's figures from the gRPC address.
TEST_P(HttpClientTest, TheServerOfAnHttpFrontEndReportsItsSide) {
  for (const char* backend : {"direct", "inprocess", "loopback"}) {
    SCOPED_TRACE(backend);
    if (kInProcessLooksRacy && backend == std::string("inprocess")) continue;
    Server server({"--http", "127.0.0.1:0", "--backend", backend});
    const auto http = server.process().WaitForLine("HTTP on ", kPatience);
    ASSERT_TRUE(http);
    for (const std::string method : {"get", "stream"}) {
      if (method == "stream" && backend == std::string("inprocess")) continue;  // inprocess has no streams
      const ClientRun run =
          RunClient({"--host", *http, "--api", GetParam(), "--workload", "library", "--method", method, "--control",
                     server.address(), "--inflight", "3", "--interval", "1", "--deadline", "15", "--format", "json"});
      const Json point = run.CleanPoint();
      EXPECT_EQ(run.Parsed().at("context").at("servers").at(0).at("http_front_ends"), Json::array({*http}));
      for (const Json& warning : point.at("warnings")) {
        EXPECT_NE(warning.at("code"), "other-client") << warning;
        EXPECT_NE(warning.at("code"), "other-server") << warning;
      }
      if (!point.contains("server_rpcs")) continue;  // the response came too late, because the machine stood still
      EXPECT_EQ(point.at("server_connections"), point.at("client_connections"));
      EXPECT_GT(point.at("server_bytes_sent"), 0);
      EXPECT_GT(point.at("server_threads_workers"), 0);
    }
  }
}

TEST_P(HttpClientTest, AnotherServersFiguresAreWarnedAbout) {
  // If the server responds too late for the window, because the machine stood still, no warning is possible.
  std::string out;
  for (int attempt = 0; attempt < 5 && out.find("other-server") == std::string::npos; ++attempt) {
    out =
        RunClient({"--host", "127.0.0.1:" + front_end_.port(), "--api", GetParam(), "--workload", "library",
                   "--control", SharedServer("cq").address(), "--inflight", "4", "--interval", "1", "--deadline", "15"})
            .out;
  }
  EXPECT_NE(out.find("other-server: the server that --control names responded to 0.00 of the calls"), std::string::npos)
      << out;
}

TEST_P(HttpClientTest, AControlServiceThatIsNotThereIsSaid) {
  const ClientRun run = RunClient(
      To(front_end_, "GET /constant", ShortInterval() + Flags{"--control", "127.0.0.1:" + front_end_.port()}));
  EXPECT_NE(run.out.find("has no control service"), std::string::npos) << run.out;
  const ClientRun unknown = RunClient(To(front_end_, "GET /constant", {"--control", "no-such-host.invalid:1"}));
  EXPECT_EQ(unknown.exit_code, 2);
  ExpectOneLine(unknown.err, {"--control", "no-such-host.invalid"});
}

TEST_P(HttpClientTest, TheTableSaysWhatWentOverTheWire) {
  const ClientRun run = RunClient({"--host", "127.0.0.1:" + front_end_.port(), "--api", GetParam(), "--http-request",
                                   "GET /constant", "--warmup", "0s", "--interval", "100ms"});
  EXPECT_NE(run.out.find(http2() ? ", h2c\n" : ", HTTP/1.1\n"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("gRPC"), std::string::npos) << run.out;
}

TEST_P(HttpClientTest, PoliciesMakeTheConnectionsThatTheyPromise) {
  for (const auto& [policy, connections] : {std::pair{"local-pool", 4}, {"distinct-args", 4}, {"pool:4", 4}}) {
    const Json point = Measured(
        "GET /constant", ShortInterval() + Flags{"--inflight", "4", "--channel-policy", policy, "--threads", "3"});
    EXPECT_EQ(point.at("connections"), connections) << policy;
    ExpectClean(point);
  }
}

TEST_P(HttpClientTest, AnOpenLoopAccountsForEveryCall) {
  for (const char* at_limit : {"queue", "drop"}) {
    const Json point = Measured(
        "GET /later?1", ShortInterval() + Flags{"--rate", "2000", "--max-outstanding", "4", "--at-limit", at_limit});
    ExpectIdentities(point);
    EXPECT_GT(point.at("calls_ok"), 0);
  }
}

TEST_P(HttpClientTest, FailuresHaveTheCodeThatTheyStandFor) {
  const auto all = [](const Json& point, const char* code) { return CountOf(point, code) == point.at("failed"); };
  EXPECT_TRUE(all(Failing("GET /nowhere"), "NOT_FOUND"));
  EXPECT_TRUE(all(Failing("GET /dropped"), "INTERNAL"));
  EXPECT_TRUE(all(Failing("GET /status?503"), "UNAVAILABLE"));
  EXPECT_TRUE(all(Failing("GET /status?302"), "UNKNOWN")) << "redirects are not followed";
  EXPECT_TRUE(all(Failing("GET /cut?10"), "UNAVAILABLE"));
  EXPECT_TRUE(all(Failing("GET /later?100000", "100ms"), "DEADLINE_EXCEEDED"));
}

TEST_P(HttpClientTest, AServerThatDiesCostsFailuresAndNoHang) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when the client measures cannot be told";
  Process client(
      ClientCommand(To(front_end_, "GET /constant", {"--inflight", "4", "--warmup", "0s", "--interval", "3"})),
      {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  front_end_.process().Signal(SIGKILL);
  const ClientRun run = Finish(client);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const Json point = run.Point();
  ExpectIdentities(point);
  EXPECT_GT(CountOf(point, "UNAVAILABLE"), 0u);
}

TEST_P(HttpClientTest, ConnectionsThatTheServerClosesAreMadeAgain) {
  const HttpFrontEnd hasty({"--idle-ms", "50"});
  const ClientRun run = RunClient(
      To(hasty, "GET /constant",
         {"--warmup", "0s", "--rate", "4", "--max-outstanding", "1", "--arrivals", "constant", "--interval", "2"}));
  const Json point = run.Point();
  ExpectIdentities(point);
  EXPECT_GT(point.at("calls_ok"), 2) << run.err;
}

TEST_P(HttpClientTest, AnInterruptKeepsWhatThereIs) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to interrupt cannot be told";
  Process client(
      ClientCommand(To(front_end_, "GET /later?1", {"--inflight", "2", "--warmup", "0s", "--interval", "60"})),
      {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  client.Signal(SIGINT);
  const ClientRun run = Finish(client);
  EXPECT_EQ(run.exit_code, 128 + SIGINT);
  EXPECT_TRUE(run.Parsed().at("context").at("partial"));
  EXPECT_GT(run.Point().at("calls_ok"), 0);
}

TEST_P(HttpClientTest, NobodyThereIsSaidAtOnce) {
  const ClientRun run = RunClient({"--host", "127.0.0.1:1", "--api", GetParam(), "--http-request", "GET /"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("cannot connect to 127.0.0.1:1 (Connection refused)"), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(All, HttpClientTest, testing::Values("http1", "http2"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace cqbench::smoke
