// Every method with every client API, message strategy, kind of stub and schedule, the server APIs taking turns. Calls
// complete without an error, and their counts add up.

#include <gtest/gtest.h>

#include <ostream>

#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

struct Method {
  const char* workload;
  const char* name;
};
void PrintTo(const Method& method, std::ostream* out) {
  *out << method.workload << "/" << method.name;
}
constexpr Method kMethods[] = {{"ping", "unary"},  {"ping", "streaming"}, {"echo", "unary"},  {"echo", "streaming"},
                               {"echo", "upload"}, {"echo", "download"},  {"user", "create"}, {"flex", "normal"},
                               {"library", "get"}, {"library", "stream"}};

class MethodTest : public testing::TestWithParam<std::tuple<std::string, Method>> {
 protected:
  // Both ends check requests and responses of the echo by size and number, and those of flex by every field.
  static void ExpectToWork(const std::string& server_api, const Flags& more, bool open_loop) {
    const auto& [client_api, method] = GetParam();
    std::string tested = server_api;
    for (const std::string& flag : more) tested += " " + flag;
    SCOPED_TRACE(tested);
    Flags flags = {"--host",     SharedServer(server_api).address(),
                   "--api",      client_api,
                   "--workload", method.workload,
                   "--method",   method.name,
                   "--format",   "json"};
    if (method.workload == std::string("echo")) {
      flags = flags + Flags{"--request-bytes", "100", "--response-bytes", "3000", "--payload", "random"};
    }
    if (method.workload == std::string("flex")) flags = flags + Flags{"--content", "complex"};
    const Json point = RunClient(flags + (open_loop ? ShortInterval() : Short()) + more).CleanPoint();
    ExpectIdentities(point);
    EXPECT_EQ(point.at("calls_ok"), point.at("latency_samples"));
    if (!open_loop) return;
    EXPECT_EQ(point.at("target_rate_per_second"), 400);
    EXPECT_EQ(point.at("latency_from_sent_samples"), point.at("latency_samples"));
    EXPECT_TRUE(point.contains("pacer_lateness_p99_ns")) << point;
  }
};

TEST_P(MethodTest, WorksWithEveryHolderStubAndSchedule) {
  const Flags closed = {"--inflight", "5"}, open = {"--rate", "400", "--max-outstanding", "5"};
  const std::string workload = std::get<1>(GetParam()).workload;
  const bool thin = kSanitized || (workload != "ping" && workload != "echo");
  size_t turn = 0;
  for (const char* strategy : {"fresh", "reused", "arena", "bytes"}) {
    const Flags messages = {"--messages", strategy};
    const std::string& server = kServerApis[turn++];
    // One schedule of each strategy under a sanitizer, and where the shape has been looked at with another workload.
    if (!thin || turn % 2 == 1) ExpectToWork(server, messages + closed, /*open_loop=*/false);
    if (thin && turn % 2 == 1) continue;
    const Flags arrivals = {"--arrivals", turn % 4 == 0 ? "poisson" : "constant"};
    ExpectToWork(server, messages + open + arrivals, /*open_loop=*/true);
  }
  ExpectToWork("cq", closed + Flags{"--stub", "generic", "--channel-policy", "pool:2"}, /*open_loop=*/false);
  if (!thin) ExpectToWork("callback", open + Flags{"--stub", "generic"}, /*open_loop=*/true);
}

INSTANTIATE_TEST_SUITE_P(All, MethodTest, testing::Combine(testing::ValuesIn(kClientApis), testing::ValuesIn(kMethods)),
                         [](const testing::TestParamInfo<std::tuple<std::string, Method>>& tested) {
                           const Method& method = std::get<1>(tested.param);
                           return std::get<0>(tested.param) + "Client_" + method.workload + "_" + method.name;
                         });

}  // namespace
}  // namespace cqbench::smoke
