// One channel whose connections grow with the server's stream limit (gRFC A105, from gRPC 1.83 on).

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

bool GrpcScales() {
  int major = 0, minor = 0;
  EXPECT_EQ(std::sscanf(grpc::Version().c_str(), "%d.%d", &major, &minor), 2);
  return major > 1 || minor >= 83;
}

// The client counts connections when they open, not only before the first call, and does not report them as those of
// another client. Older releases ignore the service config and keep one connection.
TEST(ScalingTest, ConnectionsThatOpenUnderLoadAreCounted) {
  // With its own event loops, 1.83 may use a connection fewer.
  setenv("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener", 1);
  setenv("GRPC_EXPERIMENTAL_MAX_CONCURRENT_STREAMS_CONNECTION_SCALING", "true", 1);
  const Server server({"--channel-arg", "grpc.max_concurrent_streams=1"});
  const ClientRun run =
      RunClient(Flags{"--host", server.address(), "--inflight", "4", "--api", "cq", "--channel-policy", "shared",
                      "--max-error-rate", "1", "--format", "json", "--service-config",
                      R"({"connectionScaling":{"maxConnectionsPerSubchannel":8}})"} +
                Short());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json point = run.Point();
  EXPECT_EQ(point.at("connections"), GrpcScales() ? 4 : 1);
  EXPECT_EQ(point.at("expected_connections"), 1);
  for (const Json& warning : point.at("warnings")) {
    EXPECT_NE(warning.at("code"), "connections") << warning;
    EXPECT_NE(warning.at("code"), "other-client") << warning;
  }
}

}  // namespace
}  // namespace cqbench::smoke
