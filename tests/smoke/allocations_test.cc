// The counting programs: allocations per RPC on both ends, and nothing of it in the others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

class CountingServer {
 public:
  explicit CountingServer(const std::string& program) : process_({program, "--port", "0"}) {
    address_ = process_.WaitForLine("listening on ", kPatience).value_or("");
  }
  const std::string& address() const { return address_; }

 private:
  Process process_;
  std::string address_;
};

// It ends with so many calls, timed and counted, however long they take.
Json PointOf(const std::string& client, const std::string& address, const Flags& flags, const std::string& total) {
  Process process(Flags{client, "--host", address, "--inflight", "1", "--api", "cq", "--format", "json", "--warmup",
                        "50ms", "--total", total, "--interval", "50", "--deadline", "50"} +
                  flags);
  const ClientRun run = Finish(process);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.Point();
}

TEST(AllocationsTest, ArePerRpcAndRepeatable) {
  const CountingServer server(CQBENCH_COUNTING_SERVER);
  const Json first = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {}, "500");
  const Json second = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {}, "2000");
  for (const char* name : {"client_allocations_per_rpc", "server_allocations_per_rpc"}) {
    // The library needs some for every call, but not hundreds.
    EXPECT_GT(first.at(name), 1) << name;
    EXPECT_LT(first.at(name), 200) << name;
    // With one call at a time hardly anything varies; counted per run it would be four times.
    EXPECT_NEAR(second.at(name).get<double>() / first.at(name).get<double>(), 1, 0.4) << name;
  }
  EXPECT_GT(first.at("client_allocated_bytes_per_rpc"), 100);
}

// A request of known size has to be put somewhere, on both ends.
TEST(AllocationsTest, BytesContainThePayload) {
  const CountingServer server(CQBENCH_COUNTING_SERVER);
  const Flags echo = {"--workload", "echo", "--request-bytes", "200000", "--response-bytes", "1"};
  const Json small = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), {"--workload", "echo"}, "200");
  const Json large = PointOf(CQBENCH_COUNTING_CLIENT, server.address(), echo, "200");
  for (const char* name : {"client_allocated_bytes_per_rpc", "server_allocated_bytes_per_rpc"}) {
    // Of 200 calls one at either edge is counted in part.
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

}  // namespace
}  // namespace cqbench::smoke
