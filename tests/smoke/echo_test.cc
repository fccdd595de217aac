// Payloads between our client and every server API, in every shape. shapes_test.cc tests responses to other clients.

#include <gtest/gtest.h>

#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

const std::vector<std::string> kShapes = {"unary", "streaming", "upload", "download"};

class EchoTest : public testing::TestWithParam<std::string> {
 protected:
  Flags Client(const std::string& method) const {
    const bool counted = method == "upload" || method == "download";
    return Flags{"--host", SharedServer(GetParam()).address(), "--workload", "echo", "--method", method, "--format",
                 "json"} +
           (counted ? Flags{"--stream-messages", "3"} : Flags{});
  }
};

// gRPC's own limit is 4 MiB.
TEST_P(EchoTest, FiveMebibytesPass) {
  for (const std::string& method : kShapes) {
    SCOPED_TRACE(method);
    const ClientRun run =
        RunClient(Client(method) + Flags{"--request-bytes", "5242880", "--response-bytes", "5242880", "--inflight", "1",
                                         "--warmup", "1ms", "--total", "3", "--interval", "50", "--deadline", "50"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json point = run.Point();
    ASSERT_TRUE(point.is_object());
    EXPECT_EQ(point.at("failed"), 0) << point;
    EXPECT_GE(point.at("completed"), 3) << point;
  }
}

// The minimum and the maximum size.
TEST_P(EchoTest, NothingAndSixtyFourMebibytesPass) {
  for (const char* size : {"0", "64MiB"}) {
    SCOPED_TRACE(size);
    const ClientRun run =
        RunClient(Client("unary") + Flags{"--request-bytes", size, "--response-bytes", size, "--inflight", "1",
                                          "--serializer", "buffer-reusing", "--warmup", "0", "--total", "2",
                                          "--interval", "50", "--deadline", "50"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json point = run.Point();
    EXPECT_GE(point.at("calls_ok"), 2);  // too few for a percentile
    EXPECT_EQ(point.at("failed"), 0) << point;
    EXPECT_EQ(point.at("unfinished"), 0) << point;
  }
}

TEST_P(EchoTest, EveryClientApiCarriesPayloads) {
  for (const std::string& api : kClientApis) {
    for (const std::string& method : kShapes) {
      SCOPED_TRACE(api + ", " + method);
      RunClient(Client(method) +
                Flags{"--api", api, "--inflight", "3", "--request-bytes", "1000", "--response-bytes", "100000"} +
                Flags{"--warmup", "1ms", "--total", "100", "--interval", "50", "--deadline", "50"})
          .CleanPoint();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EchoTest, testing::ValuesIn(kServerApis), ServerName);

}  // namespace
}  // namespace cqbench::smoke
