// The library over HTTP and JSON: every transcoder and backend gives the same responses to curl over both versions of
// HTTP, to h2load, and to clients that stop reading or leave. Also: slow and dead backends.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/config/load.h"
#include "src/workload/methods/library.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/http_peer.h"

namespace cqbench::smoke {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Library {
 public:
  explicit Library(const Flags& flags) : server_(flags + Flags{"--http", "127.0.0.1:0"}) {
    port_ = server_.process().WaitForLine("HTTP on 127.0.0.1:", kHttpPatience).value_or("0");
  }
  const std::string& port() const { return port_; }
  std::string Url(const std::string& target) const { return "http://127.0.0.1:" + port_ + target; }
  Server& server() { return server_; }
  std::string Get(const std::string& target, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {"curl", "--silent", "--show-error", "--max-time", "50"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back(Url(target));
    const Ran run = RunTool(command);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.out;
  }
  // Returns how many of h2load's requests got a good response.
  std::string Load(const std::string& target, const std::vector<std::string>& more) const {
    std::vector<std::string> command = {"h2load"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back(Url(target));
    const Ran run = RunTool(command);
    EXPECT_EQ(run.status, 0) << run.err;
    const size_t at = run.out.find("status codes: ");
    return at == std::string::npos ? run.out : run.out.substr(at, run.out.find('\n', at) - at);
  }
  // Stops the gateway and returns its line with the counts.
  std::string Stop() {
    server_.Stop(SIGINT);
    return server_.process().WaitForLine("answered over HTTP: ", Seconds(1)).value_or("");
  }

 private:
  Server server_;
  std::string port_;
};

std::string HttpCode(const Library& library, const std::string& target, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--output", "/dev/null", "--write-out", "%{http_code}"});
  return library.Get(target, more);
}

using TranscoderAndBackend = std::tuple<std::string, std::string>;
class GatewayTest : public testing::TestWithParam<TranscoderAndBackend> {
 protected:
  static bool HasStreams() { return std::get<1>(GetParam()) != "inprocess"; }
  static Flags Tested() {
    const auto& [transcoder, backend] = GetParam();
    Flags flags = {"--transcoder", transcoder, "--backend", backend, "--http-threads", "2"};
    if (backend != "direct") flags = flags + Flags{"--backend-deadline", "60"};  // long enough for a slow machine
    return flags;
  }
  Library library_{Tested()};
};

template <typename M>
void ExpectExpected(const Library& library, const char* version) {
  const HttpCall call = M::Http({.stream_messages = 3});
  SCOPED_TRACE(absl::StrCat(version, " ", call.method, " ", call.target));
  std::vector<std::string> flags = {version, "--request", call.method};
  if (!call.body.empty())
    flags.insert(flags.end(), {"--data", call.body, "--header", "Content-Type: application/json"});
  EXPECT_EQ(library.Get(call.target, flags), call.expected);
}

TEST_P(GatewayTest, EveryMethodAnswers) {
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    ExpectExpected<LibraryGet>(library_, version);
    ExpectExpected<LibraryList>(library_, version);
    ExpectExpected<LibraryCreate>(library_, version);
    ExpectExpected<LibraryUpdate>(library_, version);
    ExpectExpected<LibraryDelete>(library_, version);
  }
  EXPECT_EQ(library_.Stop(), "10 2xx, 0 4xx, 0 5xx; 10 connections");
}

TEST_P(GatewayTest, ErrorsSayWhy) {
  EXPECT_EQ(library_.Get("/v1/shelves/1/books/x"),
            "{\"code\":5,\"message\":\"there is no book 'shelves/1/books/x'\",\"details\":[]}");
  EXPECT_EQ(HttpCode(library_, "/v1/shelves/1/books/x"), "404");
  EXPECT_EQ(HttpCode(library_, "/v1/shelves/x/books"), "404");
  EXPECT_EQ(HttpCode(library_, "/v2"), "404");
  EXPECT_EQ(HttpCode(library_, "/v1/shelves/1/books?page_size=many"), "400");
  EXPECT_EQ(HttpCode(library_, "/v1/shelves/1/books", {"--json", "{"}), "400");
  EXPECT_EQ(HttpCode(library_, "/v1/shelves/1/books?book_id=7", {"--json", "{}"}), "409");
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    const std::string answer = library_.Get("/v1/shelves/1/books/1", {version, "--include", "--request", "PUT"});
    EXPECT_THAT(answer, HasSubstr(" 405"));
    EXPECT_THAT(answer, HasSubstr("llow: DELETE, GET, HEAD, PATCH\r\n"));
  }
  EXPECT_EQ(library_.Stop(), "0 2xx, 9 4xx, 0 5xx; 9 connections");
}

TEST_P(GatewayTest, ManyAtOnce) {
  if (kInProcessLooksRacy && !HasStreams()) GTEST_SKIP() << "ThreadSanitizer does not see what orders it";
  EXPECT_THAT(library_.Load("/v1/shelves/1/books/1", {"--h1", "-n", "2000", "-c", "8"}), HasSubstr(" 2000 2xx"));
  EXPECT_THAT(library_.Load("/v1/shelves/1/books/1", {"-n", "2000", "-c", "4", "-m", "8"}), HasSubstr(" 2000 2xx"));
  const std::string streams =
      library_.Load("/v1/shelves/1/books:stream?page_size=20", {"-n", "200", "-c", "4", "-m", "4"});
  EXPECT_THAT(streams, HasSubstr(HasStreams() ? " 200 2xx" : " 200 5xx"));
}

TEST_P(GatewayTest, NoLineIsLost) {
  if (!HasStreams()) {
    EXPECT_EQ(library_.Get("/v1/shelves/1/books:stream"),
              "{\"code\":12,\"message\":\"streams are not served through the in-process channel\",\"details\":[]}");
    return;
  }
  ExpectExpected<LibraryStream>(library_, "--http1.1");
  ExpectExpected<LibraryStream>(library_, "--http2-prior-knowledge");
  const HttpCall call = LibraryStream::Http({.stream_messages = 3});
  for (int i = 0; i < 30; ++i) ASSERT_EQ(library_.Get(call.target), call.expected) << i;
}

// The stream is longer than all buffers on the way. The server must not produce what the client has not read yet.
TEST_P(GatewayTest, AStreamWaitsForItsReader) {
  if (!HasStreams()) GTEST_SKIP() << "no streams";
  constexpr int kBooks = 30'000;
  HttpSocket slow(library_.port(), /*receive_bytes=*/4096);
  ASSERT_TRUE(slow.Send(absl::StrCat("GET /v1/shelves/1/books:stream?page_size=", kBooks,
                                     " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")));
  ASSERT_TRUE(slow.Readable(kHttpPatience));
  EXPECT_EQ(library_.Get("/v1/shelves/1/books/1"), LibraryGet::Http({}).expected);  // while the stream waits
  bool ended = false;
  const std::string all = slow.ReadAll(&ended);
  EXPECT_TRUE(ended);
  size_t lines = 0;
  for (size_t at = all.find("{\"name\":"); at != std::string::npos; at = all.find("{\"name\":", at + 1)) ++lines;
  EXPECT_EQ(lines, size_t{kBooks});
  EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n")) << all.substr(all.size() - 300);
}

TEST_P(GatewayTest, AReaderMayLeave) {
  if (!HasStreams()) GTEST_SKIP() << "no streams";
  for (int i = 0; i < 3; ++i) {
    HttpSocket gone(library_.port());
    ASSERT_TRUE(gone.Send("GET /v1/shelves/1/books:stream?page_size=1000000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_TRUE(gone.Readable(kHttpPatience));
  }
  EXPECT_EQ(library_.Get("/v1/shelves/1/books/1"), LibraryGet::Http({}).expected);
  EXPECT_THAT(library_.Stop(), StartsWith("4 2xx"));
}

INSTANTIATE_TEST_SUITE_P(All, GatewayTest,
                         testing::Combine(testing::Values("descriptor", "handwritten"),
                                          testing::Values("direct", "inprocess", "loopback")),
                         [](const testing::TestParamInfo<TranscoderAndBackend>& tested) {
                           return std::get<0>(tested.param) + "_" + std::get<1>(tested.param);
                         });

TEST(Gateway, NoTranscoderIsTheLowerBound) {
  Library library({"--transcoder", "none"});
  EXPECT_EQ(library.Get("/whatever", {"--data", "x"}), LibraryGet::Http({}).expected);
}

TEST(Gateway, EveryMessageStrategyWorks) {
  for (const char* strategy : {"fresh", "arena"}) {
    for (const char* backend : {"direct", "loopback"}) {
      SCOPED_TRACE(absl::StrCat(strategy, " ", backend));
      Library library({"--messages", strategy, "--backend", backend});
      for (int i = 0; i < 2; ++i) {
        ExpectExpected<LibraryUpdate>(library, "--http1.1");
        ExpectExpected<LibraryList>(library, "--http1.1");
        ExpectExpected<LibraryStream>(library, "--http1.1");
      }
    }
  }
}

// The gateway is a proxy, with each policy, for another process, which then ends.
TEST(Gateway, AnotherServerBehindIt) {
  for (const char* policy : {"shared", "local-pool"}) {
    auto behind = std::make_unique<Server>(Flags{"--api", "callback"});
    Library library({"--backend", "loopback", "--backend-target", behind->address(), "--backend-channels", "3",
                     "--backend-channel-policy", policy});
    EXPECT_THAT(library.Load("/v1/shelves/1/books/1", {"--h1", "-n", "300", "-c", "4"}), HasSubstr(" 300 2xx"));
    EXPECT_EQ(behind->Stop(SIGINT).ok, 300u);
    EXPECT_EQ(HttpCode(library, "/v1/shelves/1/books/1"), "503");
    EXPECT_EQ(HttpCode(library, "/v1/shelves/1/books:stream"), "503");
  }
}

TEST(Gateway, ASlowBackendIsGivenUp) {
  Library library(
      {"--backend", "loopback", "--backend-deadline", "0.05", "--service-time", "0.5", "--service-time-mode", "wait"});
  EXPECT_EQ(HttpCode(library, "/v1/shelves/1/books/1"), "504");
  // Either some messages come before the deadline, and the response has begun, or none.
  EXPECT_THAT(library.Get("/v1/shelves/1/books:stream?page_size=9"), HasSubstr("\"code\":4,"));
}

TEST(Gateway, AStreamThatFailsOnItsWaySaysSo) {
  Library library(
      {"--backend", "loopback", "--backend-deadline", "1", "--service-time", "0.3", "--service-time-mode", "wait"});
  const std::string lines = library.Get("/v1/shelves/1/books:stream?page_size=9");
  EXPECT_THAT(lines, StartsWith("{\"name\":\"shelves/1/books/1\","));
  EXPECT_THAT(lines, HasSubstr("\n{\"error\":{\"code\":4,"));
  EXPECT_THAT(lines, EndsWith("}}\n"));
}

TEST(Gateway, WhatCannotBeReachedIsSaid) {
  Process process({CQBENCH_SERVER, "--port", "0", "--http", "127.0.0.1:0", "--backend", "loopback", "--backend-target",
                   "127.0.0.1:1"});
  EXPECT_EQ(process.Wait(kHttpPatience), 1);
  EXPECT_EQ(process.err(), "grpc_ping_server: --http: cannot connect to 127.0.0.1:1\n");

  Library first({});
  Process second({CQBENCH_SERVER, "--port", "0", "--http", "127.0.0.1:" + first.port()});
  EXPECT_EQ(second.Wait(kHttpPatience), 1);
  EXPECT_THAT(second.err(), StartsWith("grpc_ping_server: --http: "));
  EXPECT_THAT(second.err(), HasSubstr(first.port()));
}

}  // namespace
}  // namespace cqbench::smoke
