// A server that accepts calls and never responds: deadlines are counted and the client stops on time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/in_process_server.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

// Accepts any call and waits for its cancellation.
class SilentReactor final : public grpc::ServerGenericBidiReactor {
 public:
  void OnCancel() override { Finish(grpc::Status::CANCELLED); }
  void OnDone() override { delete this; }
};

class SilentService final : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* /*context*/) override {
    return new SilentReactor;
  }
};

class SilentServerTest : public testing::TestWithParam<ApiAndMode> {
 protected:
  Flags Command(const Flags& more) const {
    const auto& [api, mode] = GetParam();
    Flags flags = {"--host", server_.address(), "--api", api, "--inflight", "3"};
    if (mode == "streaming") flags.emplace_back("--streaming");
    return flags + more;
  }

 private:
  SilentService service_;
  const InProcessServer server_{service_};
};

TEST_P(SilentServerTest, DeadlinesAreCounted) {
  const ClientRun run =
      RunClient(Command({"--deadline", "200ms", "--warmup", "50ms", "--interval", "1", "--format", "json"}));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_LT(run.took, Seconds(0.05 + 1 + 0.2) + kGrace);
  ExpectOneLine(run.err, {"in-flight 3", "DEADLINE_EXCEEDED"});
  const Json point = run.Point();
  ASSERT_TRUE(point.is_object());
  EXPECT_EQ(point.at("completed"), 0);
  EXPECT_EQ(point.at("unfinished"), 0);
  EXPECT_FALSE(point.contains("latency_p50_ns"));
  // At least one per slot; at most as many as deadlines fit into the window and its boundaries.
  EXPECT_GE(CountOf(point, "DEADLINE_EXCEEDED"), 3u) << point;
  EXPECT_LE(CountOf(point, "DEADLINE_EXCEEDED"), 3u * 7) << point;
  EXPECT_EQ(CountOf(point, "DEADLINE_EXCEEDED"), point.at("failed")) << point;
}

// The client cancels calls that outlast the window and does not wait for them.
TEST_P(SilentServerTest, CallsWithoutADeadlineDoNotHoldUpAnInterrupt) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to interrupt cannot be told";
  Process client(
      ClientCommand(Command({"--deadline", "none", "--warmup", "50ms", "--interval", "60", "--format", "json"})),
      {.error_is_terminal = true});
  ASSERT_TRUE(client.WaitUntil([&] { return client.err().find("measuring") != std::string::npos; }, kPatience));
  const Json point = Interrupt(client).Point();
  ASSERT_TRUE(point.is_object());
  EXPECT_EQ(point.at("partial"), true);
  EXPECT_EQ(point.at("completed"), 0);
  EXPECT_EQ(point.at("unfinished"), 3) << point;
}

INSTANTIATE_TEST_SUITE_P(All, SilentServerTest, EveryApiAndMode(), ClientName);

}  // namespace
}  // namespace cqbench::smoke
