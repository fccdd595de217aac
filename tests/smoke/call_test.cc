// Calls of a user's own method: the client knows the methods of our server by their descriptions only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/smoke/harness.h"
#include "tests/temporary_file.h"

namespace cqbench::smoke {
namespace {

using testing::HasSubstr;

const std::string kProto = std::string(CQBENCH_SOURCE) + "/proto/echo.proto";
constexpr char kEcho[] = "cqbench.v1.EchoService/Echo";

Flags Call(const Server& server, const std::string& method, const Flags& more = {}) {
  return Flags{"--host", server.address(), "--call", method,       "--warmup", "0",        "--interval",
               "60",     "--total",        "50",     "--inflight", "2",        "--format", "json"} +
         more;
}
Flags Call(const std::string& method, const Flags& more = {}) {
  return Call(SharedServer("cq"), method, more);
}

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = TemporaryPath(name);
  std::ofstream(path) << text;
  return path;
}

void ExpectRefused(const ClientRun& run, const std::vector<std::string>& parts) {
  EXPECT_EQ(run.exit_code, 2);
  ExpectOneLine(run.err, parts);
}

TEST(CallTest, ByReflectionProtoAndProtoset) {
  const std::string protoset = TemporaryPath("echo.protoset");
  ASSERT_EQ(std::system((std::string(CQBENCH_PROTOC) + " --include_imports --descriptor_set_out=" + protoset + " -I" +
                         CQBENCH_SOURCE + "/proto echo.proto")
                            .c_str()),
            0);
  for (const Flags& source : {Flags{}, Flags{"--proto", kProto}, Flags{"--protoset", protoset}}) {
    const ClientRun run = RunClient(
        Call(kEcho, Flags{"--data", R"({"responseBytes": 3})", "--expect", R"({"payload": "AAAA"})"} + source));
    run.CleanPoint();
    const Json context = run.Parsed()["context"];
    EXPECT_EQ(context["workload"], "call");
    EXPECT_EQ(context["method"], "cqbench.v1.EchoService.Echo");
    EXPECT_EQ(context["rpc"], "/cqbench.v1.EchoService/Echo");
    EXPECT_EQ(context["response_check"], "compared");
    EXPECT_EQ(context["data_messages"], 1);
  }
}

TEST(CallTest, EveryShapeThroughEveryApi) {
  for (const char* api : {"sync", "cq", "callback"}) {
    for (const char* method : {"Echo", "EchoStream", "Upload", "Download"}) {
      const bool download = std::string(method) == "Download";
      RunClient(Call(std::string("cqbench.v1.EchoService/") + method,
                     {"--api", api, "--check-responses", "--data",
                      download ? R"({"responses": 3})" : R"([{"responseBytes": 8}, {"responseBytes": 9}, {}])"}))
          .CleanPoint();
    }
  }
}

// The upload's response has the number of requests: all of the data, once.
TEST(CallTest, AClientsStreamIsTheData) {
  for (const Flags& order : {Flags{}, Flags{"--data-order", "random", "--data-seed", "7"}}) {
    RunClient(Call("cqbench.v1.EchoService/Upload",
                   Flags{"--data", "{} {} {} {} {}", "--expect", R"({"requests": 5})"} + order))
        .CleanPoint();
  }
}

// No call succeeds, so only the interval ends the run.
TEST(CallTest, WrongAnswersAreAnErrorOfTheirOwn) {
  const ClientRun run = RunClient({"--host", SharedServer("cq").address(), "--call", kEcho, "--data",
                                   R"({"responseBytes": 3})", "--expect", R"({"requests": 1})", "--warmup", "0",
                                   "--interval", "0.5", "--inflight", "1", "--format", "json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_GT(CountOf(run.Point(), "BAD_RESPONSE"), 0u) << run.out.substr(0, 500);
  EXPECT_THAT(run.out, HasSubstr("not what --expect says"));
}

TEST(CallTest, WhatIsNotThereListsWhatIs) {
  ExpectRefused(RunClient(Call("cqbench.v1.EchoService/Shout")), {"--call", "Shout", "Echo, EchoStream"});
  ExpectRefused(RunClient(Call("cqbench.v1.Nobody/Echo")), {"--call", "cqbench.v1.Nobody", "cqbench.v1.EchoService"});
  ExpectRefused(RunClient(Call(kEcho, {"--data", R"({"responseBites": 3})"})), {"--data", "responseBites"});
  ExpectRefused(RunClient(Call(kEcho, {"--messages", "arena"})), {"--messages", "--call"});
}

TEST(CallTest, MetadataGoesWithEveryCall) {
  const ClientRun run =
      RunClient(Call(kEcho, {"-H", "authorization: Bearer x", "-H", "trace-bin: AAEC", "--data", "{}"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.Parsed()["context"]["metadata"], Json({"authorization", "trace-bin"}));
  ExpectRefused(RunClient(Call(kEcho, {"-H", "no colon"})), {"--header", "no colon"});
  ExpectRefused(RunClient(Call(kEcho, {"-H", "x-bin: !"})), {"--header", "x-bin", "base64"});
}

// The server has no code for this service, only its description and a response. This is the handbook's example.
TEST(CallTest, AStandInAnswersForAService) {
  const std::string proto = Write("hello.proto", R"(syntax = "proto3"; package hello;
      message Name { string name = 1; } message Hello { string message = 1; }
      service Greeter { rpc SayHello(Name) returns (Hello); rpc Up(stream Name) returns (Hello);
      rpc Down(Name) returns (stream Hello); rpc Both(stream Name) returns (stream Hello); })");
  const std::string hi = R"({"message": "hi"})";
  for (const char* name : {"SayHello", "Up", "Down", "Both"}) {
    const std::string method = std::string("hello.Greeter/") + name;
    const bool down = std::string(name) == "Down";
    Server server({"--call", method, "--proto", proto, "--response", down ? "[" + hi + "," + hi + "]" : hi});
    RunClient(Call(server, method, {"--proto", proto, "--data", R"({"name": "me"})", "--expect", hi})).CleanPoint();
  }
}

TEST(CallTest, GhzFilesAreRead) {
  const std::string path =
      Write("call-ghz.json", R"({"call": "cqbench.v1.EchoService.Echo", "total": 60, "skipFirst": 10,
      "concurrency": 3, "connections": 2, "data": {"responseBytes": 1}, "insecure": true, "cpus": 2,
      "host": ")" + SharedServer("cq").address() +
                                 "\"}");
  const ClientRun run = RunClient({"--ghz-config", path, "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ExpectOneLine(run.err, {"--ghz-config", "cpus"});
  ExpectClean(run.Point());
  const Json context = run.Parsed()["context"];
  EXPECT_EQ(context["channel_policy"], "pool:2");
  EXPECT_EQ(context["method"], "cqbench.v1.EchoService.Echo");
}

}  // namespace
}  // namespace cqbench::smoke
