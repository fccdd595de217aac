// The HTTP front end with widespread clients: curl with each version of HTTP, Python's http.client, h2load. Also: how
// it distributes connections, and how the server ends.
#include <gmock/gmock.h>

#include <csignal>
#include <future>
#include <memory>

#include "src/http/server/http_server.h"
#include "tests/smoke/http_front_end.h"

namespace cqbench::smoke {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// A file of this size, which the destructor removes.
class TemporaryFile {
 public:
  explicit TemporaryFile(size_t bytes) : path_(testing::TempDir() + "cqbench-http-XXXXXX") {
    const int fd = mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(bytes)), 0);
    close(fd);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class HttpVersions : public testing::TestWithParam<const char*> {
 protected:
  Ran Curl(std::vector<std::string> arguments, const std::string& target) {
    arguments.insert(arguments.begin(), {"curl", "--silent", "--show-error", "--max-time", "50", GetParam()});
    arguments.push_back(front_end_.Url(target));
    return RunTool(arguments);
  }
  std::string Got(const std::vector<std::string>& arguments, const std::string& target) {
    const Ran run = Curl(arguments, target);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.out;
  }
  bool http2() const { return std::string(GetParam()) == "--http2-prior-knowledge"; }

  HttpFrontEnd front_end_{{"--threads", "2"}};
};

TEST_P(HttpVersions, AnswersAreWhole) {
  EXPECT_EQ(Got({}, "/constant"), "{\"ok\":true}");
  EXPECT_EQ(Got({"--data", "hello"}, "/echo"), "hello");
  EXPECT_EQ(Got({"--header", "Accept: c/d", "--header", "Content-Type: a/b", "--data", "12345"}, "/request?q=%20"),
            "POST /request?q=%20 a/b c/d 5\n");
  EXPECT_EQ(Got({"--data", "body"}, "/later?5"), "later:body\n");
  EXPECT_EQ(Got({}, "/bytes?3000000").size(), 3'000'000u);
  EXPECT_THAT(Got({"--head"}, "/constant"), HasSubstr("ontent-"));
  EXPECT_EQ(Got({"--write-out", "%{http_code}", "--output", "/dev/null"}, "/dropped"), "500");
  EXPECT_EQ(Got({"--write-out", "%{http_code}", "--output", "/dev/null"}, "/none"), "404");
}

TEST_P(HttpVersions, LargeBodiesComeOrAreRefused) {
  const TemporaryFile body(3'000'000);
  const TemporaryFile too_large(5'000'000);
  EXPECT_THAT(Got({"--data-binary", "@" + body.path(), "--header", "Expect: 100-continue"}, "/request"),
              EndsWith(" 3000000\n"));
  EXPECT_EQ(Got({"--data-binary", "@" + too_large.path(), "--write-out", "%{http_code}", "--output", "/dev/null"},
                "/request"),
            "413");
  if (std::string(GetParam()) == "--http1.0") return;  // HTTP/1.0 has no chunks
  EXPECT_THAT(Got({"--header", "Transfer-Encoding: chunked", "--data-binary", "@" + body.path()}, "/request"),
              EndsWith(" 3000000\n"));
}

TEST_P(HttpVersions, StreamsComeToTheirEndOrAreSeenToBeCut) {
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "line " + std::to_string(i) + "\n";
  EXPECT_TRUE(Got({}, "/lines?100000") == lines);
  EXPECT_TRUE(Got({}, "/lines-later?100000") == lines);
  EXPECT_NE(Curl({}, "/cut?10").status, 0) << "a stream that broke off is not taken for whole";
}

INSTANTIATE_TEST_SUITE_P(All, HttpVersions, testing::Values("--http1.0", "--http1.1", "--http2-prior-knowledge"),
                         [](const testing::TestParamInfo<const char*>& tested) {
                           const std::string name = tested.param;
                           return name == "--http1.0" ? "Http10" : name == "--http1.1" ? "Http11" : "Http2";
                         });

constexpr const char* kPython = R"(
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=50)
for n in range(20):
    connection.request("POST", "/echo", body=b"x" * n, headers={"Content-Type": "a/b"})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.read() == b"x" * n and answer.getheader("Content-Type") == "a/b"
socket = connection.sock
connection.request("PUT", "/request", body=iter([b"abc", b"", b"de"]), encode_chunked=True,
                   headers={"Transfer-Encoding": "chunked"})
assert connection.getresponse().read() == b"PUT /request   5\n"
connection.request("GET", "/lines?1000")
assert connection.getresponse().read().count(b"\n") == 1000
connection.request("HEAD", "/lines?1000")
assert connection.getresponse().read() == b""
connection.request("GET", "/later?1")
assert connection.getresponse().read() == b"later:\n"
assert connection.sock is socket, "one connection for all"
print("fine")
)";

TEST(HttpFrontEnd, PythonsClientKeepsItsConnection) {
  HttpFrontEnd front_end;
  const Ran run = RunTool({"python3", "-c", kPython, front_end.port()});
  EXPECT_EQ(run.out, "fine\n") << run.err;
}

TEST(HttpFrontEnd, H2loadGetsAnAnswerToEachRequest) {
  HttpFrontEnd front_end({"--threads", "2"});
  for (const char* target : {"/constant", "/later", "/lines?10"}) {
    for (const bool http1 : {true, false}) {
      std::vector<std::string> command = {"h2load", "-n", "4000", "-c", "8", "-m", "10", front_end.Url(target)};
      if (http1) command.push_back("--h1");
      const Ran run = RunTool(command);
      EXPECT_THAT(run.out, HasSubstr("4000 total, 4000 started, 4000 done, 4000 succeeded, 0 failed")) << run.err;
    }
  }
  EXPECT_THAT(front_end.Stop(), HasSubstr("2xx=24000 4xx=0 5xx=0 http2=12000 connections=48"));
}

TEST(HttpFrontEnd, ConnectionsAreDealtOutEvenly) {
  HttpOptions options;
  options.threads = 4;
  options.listen.host = "127.0.0.1";
  const auto server = HttpServer::Start(
      options, [](const HttpRequest& request, HttpReply reply) { reply.Send(200, "", request.body); });
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string port = std::to_string((*server)->address().port);
  std::vector<std::unique_ptr<HttpSocket>> sockets;
  for (int i = 0; i < 8; ++i) {
    sockets.push_back(std::make_unique<HttpSocket>(port));
    sockets.back()->Send(kGetConstant);
    sockets.back()->ReadUntil("\r\n\r\n");
  }
  EXPECT_THAT((*server)->OpenByThread(), testing::Each(2u));
  (*server)->Stop();
  EXPECT_EQ((*server)->counts().responses[1], 8u);
  EXPECT_EQ((*server)->counts().open_connections, 0u);
}

TEST(HttpFrontEnd, RepliesMayOutliveTheServer) {
  std::promise<HttpReply> got;
  HttpOptions options;
  options.listen.host = "127.0.0.1";
  options.drain_ns = 10 * kNanosPerMilli;
  auto server =
      HttpServer::Start(options, [&got](const HttpRequest&, HttpReply reply) { got.set_value(std::move(reply)); });
  ASSERT_TRUE(server.ok()) << server.status();
  HttpSocket socket(std::to_string((*server)->address().port));
  socket.Send(kGetConstant);
  HttpReply reply = got.get_future().get();
  server->reset();
  bool ended = false;
  EXPECT_EQ(socket.ReadAll(&ended), "");
  EXPECT_TRUE(ended);
  reply.Send(200, "", "to nobody");
}

TEST(HttpFrontEnd, StoppingAnswersWhatIsBeingHandled) {
  HttpFrontEnd front_end;
  HttpSocket idle(front_end.port());
  ASSERT_TRUE(idle.Send(kGetConstant));
  idle.ReadUntil("true}");
  HttpSocket busy(front_end.port());
  ASSERT_TRUE(busy.Send("GET /later?300 HTTP/1.1\r\nHost: x\r\n\r\nGET /constant HTTP/1.1\r\nHost: x\r\n\r\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the server must be handling the request
  EXPECT_THAT(front_end.Stop(), HasSubstr("2xx=2 "));
  bool ended = false;
  EXPECT_THAT(busy.ReadAll(&ended), AllOf(HasSubstr("later:"), HasSubstr("Connection: close"), Not(HasSubstr("ok"))));
  EXPECT_TRUE(ended);
  EXPECT_EQ(idle.ReadAll(&ended), "");
}

TEST(HttpFrontEnd, WhatCannotBeIsSaid) {
  const auto handler = [](const HttpRequest&, HttpReply) {};
  HttpOptions options;
  options.threads = 0;
  EXPECT_EQ(HttpServer::Start(options, handler).status().code(), absl::StatusCode::kInvalidArgument);
  options.threads = 1;
  options.listen = Target{"127.0.0.1", 0, ""};
  const auto first = HttpServer::Start(options, handler);
  ASSERT_TRUE(first.ok());
  options.listen = (*first)->address();
  const auto second = HttpServer::Start(options, handler);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("cannot listen on"));
  options.listen.host = "no.such.host.invalid";
  EXPECT_EQ(HttpServer::Start(options, handler).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace cqbench::smoke
