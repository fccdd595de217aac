// The counting programs report allocations per RPC on both ends; the other programs report none.

#include <gmock/gmock.h>
#include <grpcpp/version_info.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

class CountingServer {
 public:
  explicit CountingServer(const std::string& program, const Flags& flags = {})
      : process_(Flags{program, "--port", "0"} + flags) {
    address_ = process_.WaitForLine("listening on ", kPatience).value_or("");
  }
  const std::string& address() const { return address_; }
  Process& process() { return process_; }

 private:
  Process process_;
  std::string address_;
};

// The run ends after this number of timed and counted calls, not after a time.
ClientRun RunOf(const std::string& client, const std::string& address, const Flags& flags, const std::string& total) {
  Flags all = {client, "--host",  address, "--api",      "cq", "--format",   "json", "--warmup",
               "50ms", "--total", total,   "--interval", "50", "--deadline", "50"};
  if (std::find(flags.begin(), flags.end(), "--inflight") == flags.end()) all = all + Flags{"--inflight", "1"};
  Process process(all + flags);
  return Finish(process);
}

Json PointOf(const std::string& client, const std::string& address, const Flags& flags, const std::string& total) {
  const ClientRun run = RunOf(client, address, flags, total);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.Point();
}

TEST(AllocationsTest, ArePerRpcAndRepeatable) {
  const CountingServer server(CQBENCH_COUNTING_SERVER);
  const Json first = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {}, "500");
  const Json second = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {}, "2000");
  for (const char* name : {"client_allocations_per_rpc", "server_allocations_per_rpc"}) {
    // The library needs some allocations for every call, but not hundreds.
    EXPECT_GT(first.at(name), 1) << name;
    EXPECT_LT(first.at(name), 200) << name;
    // With one call at a time the figure hardly varies; counted per run it would be four times as large.
    EXPECT_NEAR(second.at(name).get<double>() / first.at(name).get<double>(), 1, 0.4) << name;
  }
  EXPECT_GT(first.at("client_allocated_bytes_per_rpc"), 100);
}

// The completion-queue server has one thread, which frees its own allocations, unless the library reads and writes on
// threads of its own (gRPC 1.83). Several threads of the sync server pass calls to each other; how often, depends on
// the machine's load (0.003 to 0.04 frees per call), unless handlers wait: then on any machine (4 to 5).
TEST(AllocationsTest, FreesOnAnotherThread) {
  const auto of_server = [](const char* api, const Flags& more = {}) {
    const CountingServer server(CQBENCH_COUNTING_SERVER, Flags{"--api", api} + more);
    return PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {"--inflight", "8"}, "5000")
        .at("server_frees_elsewhere_per_rpc")
        .get<double>();
  };
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 60
  EXPECT_LT(of_server("cq"), 0.01);
#endif
  EXPECT_GT(of_server("sync", {"--service-time", "200us", "--service-time-mode", "wait"}), 1);
}

// Both ends must store a request of known size.
TEST(AllocationsTest, BytesContainThePayload) {
  const CountingServer server(CQBENCH_COUNTING_SERVER);
  const Flags echo = {"--workload", "echo", "--request-bytes", "200000", "--response-bytes", "1"};
  const Json small = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {"--workload", "echo"}, "200");
  const Json large = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), echo, "200");
  for (const char* name : {"client_allocated_bytes_per_rpc", "server_allocated_bytes_per_rpc"}) {
    // At each window boundary one call of 200 may be counted in part.
    EXPECT_GT(large.at(name).get<double>() - small.at(name).get<double>(), 200'000 * 198 / 200) << name;
    EXPECT_LT(large.at(name).get<double>() - small.at(name).get<double>(), 2'000'000) << name;
  }
}

TEST(AllocationsTest, AreAbsentWhereNobodyCounts) {
  const CountingServer server(CQBENCH_SERVER);
  const Json counted_here = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {}, "100");
  EXPECT_TRUE(counted_here.contains("client_allocations_per_rpc"));
  EXPECT_FALSE(counted_here.contains("server_allocations_per_rpc"));
  const Json nowhere = PointOf(CQBENCH_CLIENT, server.address(), {}, "100");
  EXPECT_FALSE(nowhere.contains("client_allocations_per_rpc"));
}

// The limits are far from the counts on either side, so variation does not matter.
TEST(AllocationsTest, TooManyAreAnExitStatus) {
  const CountingServer server(CQBENCH_COUNTING_SERVER);
  const auto status = [&](const char* most) {
    return RunOf(CQBENCH_COUNTING_CLIENT, server.address(), {"--max-allocs-per-rpc", most}, "100");
  };
  EXPECT_EQ(status("1000").exit_code, 0);
  const ClientRun closed = status("1");
  EXPECT_EQ(closed.exit_code, 1);
  ExpectOneLine(closed.err,
                {"in-flight 1: ", "allocations per call (client ", "server ", "above --max-allocs-per-rpc 1"});
}

TEST(AllocationsTest, AnEndThatDoesNotCountIsSaid) {
  const CountingServer server(CQBENCH_SERVER);
  const ClientRun run = RunOf(CQBENCH_COUNTING_CLIENT, server.address(), {"--max-allocs-per-rpc", "1000"}, "100");
  EXPECT_EQ(run.exit_code, 0);
  ExpectOneLine(run.err, {"--max-allocs-per-rpc", "the server does not count"});
}

// A call always allocates its arena, on either end.
TEST(AllocationsTest, SitesAreNamedOnBothEnds) {
  const std::string folded = testing::TempDir() + "/cqbench-stacks." + std::to_string(getpid());
  CountingServer server(CQBENCH_COUNTING_SERVER, {"--allocation-sites"});
  const ClientRun run =
      RunOf(CQBENCH_COUNTING_CLIENT, server.address(), {"--allocation-sites", "--allocation-stacks", folded}, "500");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json told = run.Parsed().at("allocation_sites");
  EXPECT_GE(told.at("calls"), 500);
  EXPECT_EQ(told.at("lost_samples"), 0);
  EXPECT_GT(told.at("samples"), 100);
  double shares = 0;
  std::string functions;
  for (const Json& site : told.at("sites")) {
    shares += site.at("allocations_share").get<double>();
    functions += site.at("function").get<std::string>() + " ";
  }
  EXPECT_NEAR(shares, 1, 0.01);
  EXPECT_THAT(functions, testing::HasSubstr("Arena"));
  std::stringstream stacks;
  stacks << std::ifstream(folded).rdbuf();
  EXPECT_THAT(Lines(stacks.str()), testing::Contains(testing::ContainsRegex(";.*Arena.* [0-9]+$")));
  std::remove(folded.c_str());
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(kPatience), 0);
  EXPECT_THAT(server.process().out(), testing::HasSubstr("Allocation sites of the server: "));
  EXPECT_THAT(server.process().out(), testing::HasSubstr("Arena"));
}

}  // namespace
}  // namespace cqbench::smoke
