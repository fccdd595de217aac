#include "tests/smoke/harness.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <stdexcept>

#include "absl/base/config.h"
#include "src/observe/sampling/process.h"

namespace cqbench::smoke {
namespace {

std::vector<std::string> ServerCommand(const Flags& flags) {
  const bool placed =
      std::any_of(flags.begin(), flags.end(), [](const auto& f) { return f == "--port" || f == "--listen"; });
  return Flags{CQBENCH_SERVER} + flags + (placed ? Flags{} : Flags{"--port", "0"});
}

// The launcher execs the program, so the process stays the same.
Flags OnCpus(const std::vector<int>& cpus) {
  return {"/usr/bin/env", "taskset", "-c", FormatCpuList(cpus)};
}

#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
// For the programs under test: an unknown leak makes their exit status 1.
[[maybe_unused]] const int kSuppressed =
    setenv("LSAN_OPTIONS", "suppressions=" CQBENCH_LEAKS ":print_suppressions=0", /*overwrite=*/0);
#endif

}  // namespace

Flags operator+(Flags a, const Flags& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Flags OnServerCpus() {
  const std::vector<int> cpus = AllowedCpus();
  return cpus.size() < 2 ? Flags{} : OnCpus({cpus.front()});
}

Flags OnClientCpus() {
  const std::vector<int> cpus = AllowedCpus();
  return cpus.size() < 2 ? Flags{} : OnCpus({cpus.begin() + 1, cpus.end()});
}

Server::Server(const Flags& flags, const Flags& launcher) : process_(launcher + ServerCommand(flags)) {
  const auto address = process_.WaitForLine("listening on ", kPatience);
  if (!address) {
    process_.Wait(Seconds(1));
    throw std::runtime_error("the server does not listen: " + process_.out() + process_.err());
  }
  address_ = *address;
}

Served Server::Stop(int signal) {
  process_.Signal(signal);
  EXPECT_EQ(process_.Wait(kPatience), 0) << process_.err();
  unsigned long long calls = 0, ok = 0, failed = 0, messages = 0;
  const std::vector<std::string> lines = Lines(process_.out());
  if (lines.empty() || std::sscanf(lines.back().c_str(), "served %llu calls: %llu ok, %llu failed; %llu messages",
                                   &calls, &ok, &failed, &messages) != 4) {
    ADD_FAILURE() << "no counts in the last line of: " << process_.out() << process_.err();
  }
  return {calls, ok, failed, messages};
}

Server& SharedServer(const std::string& api) {
  static std::map<std::string, std::unique_ptr<Server>> servers;
  std::unique_ptr<Server>& server = servers[api];
  if (server == nullptr) server = std::make_unique<Server>(Flags{"--api", api});
  return *server;
}

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), args);
}

Json ClientRun::Parsed() const {
  Json json = Json::parse(out, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  ADD_FAILURE() << "not JSON: " << out << err;
  return nullptr;
}

Json ClientRun::Points() const {
  const Json json = Parsed();
  if (json.is_null()) return Json::array();
  Json points = json.at("benchmarks");
  for (const Json& point : json.at("not_measured")) points.push_back(point);
  return points;
}

Json ClientRun::Point() const {
  const Json points = Points();
  if (points.size() == 1) return points.at(0);
  ADD_FAILURE() << points.size() << " points instead of 1: " << out << err;
  return nullptr;
}

Json ClientRun::CleanPoint() const {
  EXPECT_EQ(exit_code, 0) << err;
  Json point = Point();
  ExpectClean(point);
  return point;
}

std::vector<std::string> ClientCommand(const Flags& flags) {
  return Flags{CQBENCH_CLIENT} + flags;
}

ClientRun RunClient(const Flags& flags, const Process::Options& options, Seconds timeout) {
  Process client(ClientCommand(flags), options);
  return Finish(client, timeout);
}

ClientRun RunShortly(const Server& server, const Flags& more) {
  return RunClient(Flags{"--host", server.address(), "--format", "json"} + Short() + more);
}

ClientRun Interrupt(Process& client) {
  client.Signal(SIGINT);
  ClientRun run = Finish(client);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_LT(run.took, Seconds(2) + kGrace);
  return run;
}

ClientRun Finish(Process& client, Seconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<int> exit_code = client.Wait(timeout);
  const Seconds took = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(exit_code) << "the client did not end: " << client.out() << client.err();
  return {exit_code, client.out(), client.err(), took};
}

bool WaitUntilMeasuring(Process& client, int point) {
  // "[1/2] in-flight 4, measuring 0.2/3.0 s, 12345 req/s", "[1/2] rate 500/s, measuring 0.2/3.0 s, 495 req/s, …"
  const std::regex line("\\[" + std::to_string(point) +
                        "/[0-9]+\\] (in-flight|rate) [0-9./s]+, measuring [^,\r]*, [1-9][0-9]* req/s");
  const bool measuring = client.WaitUntil([&] { return std::regex_search(client.err(), line); }, kPatience);
  EXPECT_TRUE(measuring) << client.err();
  return measuring;
}

bool WaitUntilFailed(Process& client) {
  static const std::regex line(" req/s, [1-9][0-9]* failed");
  const bool failed = client.WaitUntil([&] { return std::regex_search(client.err(), line); }, kPatience);
  EXPECT_TRUE(failed) << client.err();
  return failed;
}

Flags Short() {
  return {"--warmup", "20ms", "--total", kSanitized ? "100" : "300", "--interval", "50", "--deadline", "50"};
}

Flags ShortInterval() {
  return {"--warmup", "50ms", "--interval", kSanitized ? "500ms" : "250ms", "--deadline", kSanitized ? "60" : "15"};
}

void ExpectClean(const Json& point) {
  ASSERT_TRUE(point.is_object());
  EXPECT_GT(point.at("completed"), 0) << point;
  EXPECT_EQ(point.at("failed"), 0) << point;
  EXPECT_EQ(point.at("unfinished"), 0) << point;
  EXPECT_TRUE(point.at("errors").empty()) << point;
  for (const Json& warning : point.at("warnings")) EXPECT_NE(warning.at("code"), "connections") << point;
  EXPECT_FALSE(point.at("partial")) << point;
  EXPECT_FALSE(point.contains("error_occurred")) << point;
  ASSERT_TRUE(point.contains("latency_p50_ns")) << point;
  EXPECT_GT(point.at("latency_p50_ns"), 0) << point;
  double last = 0;
  for (const char* key : {"latency_min_ns", "latency_p50_ns", "latency_p90_ns", "latency_p95_ns", "latency_p99_ns",
                          "latency_p99_9_ns", "latency_max_ns"}) {
    if (!point.contains(key)) continue;  // too few calls for this percentile
    EXPECT_LE(last, point.at(key)) << key << " in " << point;
    last = point.at(key);
  }
}

void ExpectIdentities(const Json& point) {
  ASSERT_TRUE(point.is_object());
  const auto count = [&](const char* key) { return point.at(key).get<uint64_t>(); };
  EXPECT_EQ(count("calls_due"), count("calls_sent") + count("calls_dropped") + count("calls_unsent")) << point;
  EXPECT_EQ(count("calls_sent"), count("calls_ok") + count("failed") + count("unfinished")) << point;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

void ExpectOneLine(const std::string& text, const std::vector<std::string>& parts) {
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_THAT(text, testing::EndsWith("\n"));
  for (const std::string& part : parts) EXPECT_THAT(text, testing::HasSubstr(part));
}

uint64_t CountOf(const Json& point, const std::string& code) {
  for (const Json& error : point.at("errors")) {
    if (error.at("code") == code) return error.at("count");
  }
  return 0;
}

}  // namespace cqbench::smoke

#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
// For the test itself: LeakSanitizer reads its environment before main().
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libcares";
}
#endif
