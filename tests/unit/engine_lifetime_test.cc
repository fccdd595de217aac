// An engine may be destroyed at any moment: nothing hangs, no thread and no call outlives it, no slot is lost. Mostly
// AddressSanitizer and the timeout detect the defects that this test looks for.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include "cqbench/engine.h"
#include "cqbench/server.h"
#include "src/channel/channel_pool.h"
#include "tests/failing_threads.h"
#include "tests/smoke/sockets.h"

namespace cqbench {
namespace {

constexpr int kSlots = 5;
constexpr int kThreads = 2;
constexpr Nanos kLength = 10 * kNanosPerSecond;

enum class Loop { kClosed, kOpen, kOpenWithDrop };

struct MethodName {
  const char* workload;
  const char* name;
};

class EngineTest : public testing::TestWithParam<std::tuple<ClientApi, MethodName, Loop>> {
 protected:
  EngineTest() {
    const auto [api, method, loop] = GetParam();
    config_.api = api;
    config_.method = *FindMethod(method.workload, method.name);
    config_.deadline_ns = kLength;
    config_.breakdown = true;  // adds work after the end of a call
    config_.schedule.at_limit = loop == Loop::kOpenWithDrop ? AtLimit::kDrop : AtLimit::kQueue;
    load_ = {kSlots, loop == Loop::kClosed ? 0.0 : 5000.0};
  }
  ~EngineTest() override { threads_left = -1; }

  std::unique_ptr<Engine> Make() {
    window_.Set(0, INT64_MAX);
    return *MakeEngine(config_, &*pool_, load_, kThreads, window_, kLength);
  }
  void Serve(Nanos service_ns) {
    ServerConfig config;
    config.listen = {*ParseTarget("127.0.0.1:0", 0)};
    config.api = ServerApi::kSync;  // with threads, a slow message does not delay other calls
    config.drain_ns = 300 * kNanosPerMilli;
    config.service_time = {service_ns, /*exponential=*/false, /*wait=*/true};
    server_ = *StartServer(config);
    ConnectTo(server_->listening().front().ToString(), /*channels=*/2);
  }
  // Uses a socket, not InProcessChannel(): a sync server of gRPC 1.51 does not end once a server-streaming call of an
  // in-process channel has been cancelled. Disables retries: with them, about one in a hundred of the callback API's
  // streams to a dead server never ends, even if it is cancelled again and again.
  void ConnectTo(const std::string& address, int channels = 1) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    std::vector<std::shared_ptr<grpc::Channel>> made;
    for (int i = 0; i < channels; ++i) {
      made.push_back(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    }
    pool_.emplace(std::move(made));
  }
  // Connects to a listener that accepts the connection and never sends anything.
  void ConnectToSilence() {
    silent_.Listen();
    ConnectTo(silent_.address());
  }
  // Returns what the running engine has recorded once all its calls have been cancelled.
  Measurement Cancelled(Engine& engine) {
    window_.CloseAt(NowNs());
    while (!engine.Finished()) {
      engine.CancelAll();
      engine.Tick(NowNs());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    engine.Join();
    Measurement total;
    engine.Collect(total);
    return total;
  }
  // Runs until this number of calls has succeeded.
  static void RunUntil(Engine& engine, uint64_t completed) {
    while (engine.Completed() < completed) {
      engine.Tick(NowNs());
      std::this_thread::yield();
    }
  }

  smoke::BoundSocket silent_;
  RunConfig config_;
  Load load_;
  RunWindow window_;
  std::unique_ptr<PingServer> server_;
  std::optional<ChannelPool> pool_;
};

TEST_P(EngineTest, BeforeItsStart) {
  Serve(0);
  Make();
}

TEST_P(EngineTest, RightAfterItsStart) {
  Serve(0);
  for (int i = 0; i < 10; ++i) Make()->Start();
}

TEST_P(EngineTest, InTheMidstOfCalls) {
  Serve(0);
  for (uint64_t calls : {1, 20, 200}) {
    const auto engine = Make();
    engine->Start();
    RunUntil(*engine, calls);
  }
}

TEST_P(EngineTest, InTheMidstOfCallsOfWhichEverySlotHasOneUnderWay) {
  Serve(3 * kNanosPerMilli);
  for (uint64_t calls : {1, 2 * kSlots}) {
    const auto engine = Make();
    engine->Start();
    RunUntil(*engine, calls);
  }
}

// Calls that never end outlive the run and the run's configuration.
TEST_P(EngineTest, HasAConfigOfItsOwn) {
  Serve(0);
  const auto engine = Make();
  config_.deadline_ns = -kNanosPerSecond;  // no call can succeed within this deadline
  config_.message.response_bytes = 7;
  config_.metadata = {{"key", "value"}};
  const Nanos give_up = NowNs() + kLength;
  engine->Start();
  while (engine->Completed() < 2 * kSlots && NowNs() < give_up) {
    engine->Tick(NowNs());
    std::this_thread::yield();
  }
  EXPECT_GE(engine->Completed(), uint64_t{2 * kSlots});
}

TEST_P(EngineTest, WithCallsThatNobodyAnswers) {
  ConnectToSilence();
  const Nanos begin = NowNs();
  {
    const auto engine = Make();
    engine->Start();
    ASSERT_TRUE(silent_.WaitForConnection());
    EXPECT_FALSE(engine->Finished());
  }
  EXPECT_LT(NowNs() - begin, kLength) << "it waited for the deadline";
}

TEST_P(EngineTest, WhileSlotsRestAfterFailures) {
  const smoke::BoundSocket nobody;
  ConnectTo(nobody.address());
  grpc::Channel& channel = *(*pool_)[0];
  for (grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
       state != GRPC_CHANNEL_TRANSIENT_FAILURE; state = channel.GetState(/*try_to_connect=*/true)) {
    ASSERT_TRUE(channel.WaitForStateChange(state, std::chrono::system_clock::now() + std::chrono::seconds(10)));
  }
  const auto engine = Make();
  engine->Start();
  for (int i = 0; i < 50; ++i) {
    engine->Tick(NowNs());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_P(EngineTest, AfterTheServerHasGone) {
  Serve(0);
  const auto engine = Make();
  engine->Start();
  RunUntil(*engine, 10);
  server_->Shutdown();
}

TEST_P(EngineTest, WhenAThreadCannotBeMade) {
  Serve(0);
  for (int made = 0;; ++made) {
    ASSERT_LE(made, kSlots + 1) << "how many threads does it want?";
    try {
      threads_left = made;
      const auto engine = Make();
      threads_left = -1;
      engine->Start();
      RunUntil(*engine, 10);
      break;
    } catch (const std::system_error&) {
      threads_left = -1;
    }
  }
}

// After a cancelled run, every call has one of the outcomes, and no call is older than the run.
TEST_P(EngineTest, WhatIsCancelledIsAccountedFor) {
  Serve(3 * kNanosPerMilli);
  const Nanos start = NowNs();
  const auto engine = Make();
  window_.Set(start, start + kLength);
  engine->Start();
  RunUntil(*engine, 2 * kSlots);
  const Measurement total = Cancelled(*engine);
  const CallCounts& counts = total.counts;
  EXPECT_GE(counts.ok, uint64_t{2 * kSlots});
  EXPECT_EQ(counts.failed, 0u) << total.failures.first_message[1];
  EXPECT_EQ(counts.sent, counts.ok + counts.failed + counts.unfinished);
  EXPECT_EQ(counts.due, counts.sent + counts.dropped + counts.unsent);
  EXPECT_EQ(total.latency.Count(), counts.ok);
  const uint64_t ages = total.at_least ? total.at_least->Count() : 0;
  EXPECT_EQ(ages, counts.unfinished + counts.unsent);
  if (total.at_least) {
    EXPECT_LE(total.at_least->Max(), NowNs() - start);
  }
}

class OpenLoopTest : public EngineTest {};

// More calls are due than five slots can send at 3 ms each. Calls due before the window do not count.
TEST_P(OpenLoopTest, WhatWaitsForASlotCountsFromWhenItWasDue) {
  Serve(3 * kNanosPerMilli);
  const auto engine = Make();
  const Nanos open = NowNs() + 5 * kNanosPerMilli;
  window_.Set(open, open + kLength);
  engine->Start();
  RunUntil(*engine, 200);
  const Measurement total = Cancelled(*engine);
  const CallCounts& counts = total.counts;
  EXPECT_EQ(counts.due, counts.sent + counts.dropped + counts.unsent);
  EXPECT_EQ(counts.sent, counts.ok + counts.failed + counts.unfinished);
  ASSERT_NE(total.from_sent, nullptr);
  EXPECT_GT(total.latency.Mean(), total.from_sent->Mean() + 5.0 * kNanosPerMilli);
}

// Simulates that the library loses the end of a call.
class GivenUpTest : public EngineTest {};

TEST_P(GivenUpTest, CallsThatDoNotEndAreUnfinishedAndTheirEndWaits) {
  ConnectToSilence();
  const Nanos start = NowNs();
  auto engine = Make();
  window_.Set(start, start + kLength);
  engine->Start();  // sends on this thread
  window_.CloseAt(NowNs());
  ASSERT_TRUE(engine->GiveUp());
  Measurement total;
  engine->Collect(total);
  EXPECT_EQ(total.counts.sent, uint64_t{kSlots});
  EXPECT_EQ(total.counts.unfinished, uint64_t{kSlots});
  EXPECT_EQ(total.counts.failed, 0u);
  EXPECT_EQ(total.completed_per_slot.size(), size_t{kSlots});
  ASSERT_NE(total.at_least, nullptr);
  EXPECT_LE(total.at_least->Max(), NowNs() - start);
  EXPECT_FALSE(engine->Finished());
  engine.reset();  // gives up the calls, cancels them, and waits for their end
}

class StreamTest : public EngineTest {};

TEST_P(StreamTest, AMessageOfAStreamThatNeverOpenedIsNoOlderThanTheRun) {
  ConnectToSilence();
  const Nanos start = NowNs();
  const auto engine = Make();
  window_.Set(start, start + kLength);
  engine->Start();
  ASSERT_TRUE(silent_.WaitForConnection());  // at least one slot has begun
  const Measurement total = Cancelled(*engine);
  ASSERT_NE(total.at_least, nullptr);
  EXPECT_LE(total.at_least->Max(), NowNs() - start);
}

std::string NameOf(const testing::TestParamInfo<EngineTest::ParamType>& info) {
  const auto [api, method, loop] = info.param;
  const char* const loops[] = {"closed", "open", "drop"};
  return std::string(ToString(api)) + "_" + method.workload + "_" + method.name + "_" + loops[static_cast<int>(loop)];
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest,
                         testing::Combine(testing::Values(ClientApi::kSync, ClientApi::kCq, ClientApi::kCallback),
                                          testing::Values(MethodName{"ping", "unary"}, MethodName{"ping", "streaming"},
                                                          MethodName{"echo", "upload"}, MethodName{"echo", "download"}),
                                          testing::Values(Loop::kClosed, Loop::kOpen, Loop::kOpenWithDrop)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Engines, OpenLoopTest,
                         testing::Combine(testing::Values(ClientApi::kSync, ClientApi::kCq, ClientApi::kCallback),
                                          testing::Values(MethodName{"ping", "unary"}, MethodName{"ping", "streaming"}),
                                          testing::Values(Loop::kOpen)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Engines, GivenUpTest,
                         testing::Combine(testing::Values(ClientApi::kCallback),
                                          testing::Values(MethodName{"ping", "unary"}, MethodName{"ping", "streaming"},
                                                          MethodName{"echo", "upload"}, MethodName{"echo", "download"}),
                                          testing::Values(Loop::kClosed)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Engines, StreamTest,
                         testing::Combine(testing::Values(ClientApi::kSync, ClientApi::kCq, ClientApi::kCallback),
                                          testing::Values(MethodName{"ping", "streaming"}),
                                          testing::Values(Loop::kClosed)),
                         NameOf);

}  // namespace
}  // namespace cqbench
