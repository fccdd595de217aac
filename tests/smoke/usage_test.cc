// Invalid input: one line on standard error that names the flag, nothing on standard output, and the right exit status.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "tests/smoke/harness.h"
#include "tests/smoke/sockets.h"

namespace cqbench::smoke {
namespace {

struct Case {
  const char* name;
  const char* program;
  Flags flags;
  std::vector<std::string> parts;  // parts of the line
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

// Tests how programs report errors. tests/unit/*_flags*_test.cc test which flags and values they refuse.
class UsageTest : public testing::TestWithParam<Case> {};

TEST_P(UsageTest, IsOneLineAndExitStatus2) {
  const Case& c = GetParam();
  Process process(Flags{c.program} + c.flags);
  EXPECT_EQ(process.Wait(kPatience), 2) << process.out();
  EXPECT_EQ(process.out(), "");
  ExpectOneLine(process.err(), c.parts);
}

constexpr char kClient[] = CQBENCH_CLIENT;
constexpr char kServer[] = CQBENCH_SERVER;

INSTANTIATE_TEST_SUITE_P(
    Client, UsageTest,
    testing::Values(
        Case{"UnknownFlag", kClient, {"--no-such-flag"}, {"--no-such-flag"}},
        Case{"ZeroInflight", kClient, {"--inflight", "0"}, {"--inflight", "0"}},
        Case{"UnresolvableHost", kClient, {"--host", "no-such-host.invalid"}, {"--host", "no-such-host.invalid"}},
        Case{"SpinWithoutQueues", kClient, {"--poll", "spin", "--api", "sync"}, {"--poll", "spin"}},
        Case{
            "MissingServiceConfig", kClient, {"--service-config", "@/no/such/file"}, {"--service-config", "/no/such/"}},
        Case{"MissingValue", kClient, {"--interval"}, {"--interval"}},
        Case{"UnwritableOutput", kClient, {"--output", "/no/such/directory/result.json"}, {"--output", "/no/such/"}}),
    [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Server, UsageTest,
    testing::Values(
        Case{"UnknownFlag", kServer, {"--no-such-flag"}, {"--no-such-flag"}},
        Case{"BadHost", kServer, {"--host", "no-such-host.invalid", "--port", "0"}, {"--host", "no-such-host.invalid"}},
        Case{"BadListenHost", kServer, {"--listen", "no-such-host.invalid:0"}, {"--listen", "no-such-host.invalid"}},
        Case{"QueuesOfCallback", kServer, {"--api", "callback", "--num-cqs", "2"}, {"--num-cqs"}},
        Case{"ZeroQueues", kServer, {"--num-cqs", "0"}, {"--num-cqs", "0"}}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(CheckTest, ValidatesTheFlagsAndDoesNothing) {
  struct {
    Flags command;
    int exit_code;
  } const kCommands[] = {
      {{kClient, "--check"}, 0},
      {{kClient, "--api", "cq", "--inflight", "4", "--check"}, 0},
      // Only resolving or opening detects these errors.
      {{kClient, "--check", "--host", "no-such-host.invalid", "--output", "/no/such/directory/result.json"}, 0},
      {{kClient, "--check", "--channel-arg", "grpc.no_such_argument=1"}, 0},
      {{kServer, "--check"}, 0},
      {{kServer, "--check", "--listen", "no-such-host.invalid:0"}, 0},
      {{kClient, "--check", "--inflight", "0"}, 2},
      {{kClient, "--check", "--poll", "spin"}, 2},  // an invalid combination
      {{kServer, "--check", "--num-cqs", "0"}, 2},
      {{kServer, "--api", "callback", "--num-cqs", "2", "--check"}, 2},
  };
  for (const auto& [command, exit_code] : kCommands) {
    SCOPED_TRACE(testing::PrintToString(command));
    Process process(command);
    EXPECT_EQ(process.Wait(kPatience), exit_code);
    EXPECT_EQ(process.out(), "");
    if (exit_code == 0) {
      EXPECT_EQ(process.err(), "");
    } else {
      ExpectOneLine(process.err(), {"--"});
    }
  }
}

TEST(HelpTest, IsOnStandardOutput) {
  for (const char* program : {kClient, kServer}) {
    for (const char* flag : {"--help", "--version"}) {
      Process process({program, flag});
      EXPECT_EQ(process.Wait(kPatience), 0) << program << flag;
      EXPECT_NE(process.out(), "") << program << flag;
      EXPECT_EQ(process.err(), "") << program << flag;
    }
  }
}

TEST(VersionTest, HasLibrariesAndCompiler) {
  for (const char* program : {kClient, kServer}) {
    Process process({program, "--version"});
    EXPECT_EQ(process.Wait(kPatience), 0) << program;
    EXPECT_THAT(process.out(), testing::ContainsRegex("; protobuf [0-9.]+; (g[+][+]|clang) [0-9]")) << program;
  }
}

TEST(OutputFlagTest, FileGetsTheFormatAndStandardOutputTheTable) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/result.json";
  const ClientRun run = RunClient(
      Flags{"--host", SharedServer("cq").address(), "--inflight", "1", "--format", "json", "--output", path} + Short());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("Benchmark Results Summary"));
  std::ifstream file(path);
  const Json json = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
  ASSERT_TRUE(json.is_object());
  ASSERT_EQ(json.at("benchmarks").size(), 1u);
  ExpectClean(json.at("benchmarks").at(0));
}

TEST(OutputFlagTest, OldResultSurvivesARunThatMeasuresNothing) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/result.json";
  std::ofstream(path) << "old";
  const ClientRun run = RunClient({"--host", "no-such-host.invalid", "--output", path});
  EXPECT_EQ(run.exit_code, 2);
  std::string content;
  std::ifstream(path) >> content;
  EXPECT_EQ(content, "old");
}

TEST(ChannelArgTest, NamesThatNobodyKnowsAreWarnedOf) {
  const ClientRun run =
      RunClient(Flags{"--host", SharedServer("cq").address(), "--inflight", "1", "--channel-arg",
                      "grpc.max_concurent_streams=1", "--channel-arg", "grpc.keepalive_time_ms=9000"} +
                Short());
  EXPECT_EQ(run.exit_code, 0);
  ExpectOneLine(run.err, {"--channel-arg", "'grpc.max_concurent_streams'"});
}

}  // namespace
}  // namespace cqbench::smoke
