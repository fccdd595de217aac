// Command lines of the YDB post, and of the program that the post presents.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

// Returns the lines after `header`.
std::vector<std::string> LinesAfter(const std::string& text, const std::string& header) {
  std::vector<std::string> lines = Lines(text);
  const auto at = std::find(lines.begin(), lines.end(), header);
  if (at == lines.end()) return {};
  return {at + 1, lines.end()};
}

TEST(PostFlagsTest, TheLineOfThePost) {
  const Server server({"--num-cqs", "1", "--workers-per-cq", "1", "--callbacks-per-cq", "10"});
  const ClientRun run =
      RunClient({"--host", "localhost", "--port", server.port(), "--min-inflight", "1", "--max-inflight", "3",
                 "--warmup", "1", "--interval", "1", "--with-csv", "--local-pool"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, testing::HasSubstr("Benchmark Results Summary"));
  for (const char* column : {"In-flight", "Throughput (req/s)", "P50 (µs)", "P90 (µs)", "P99 (µs)", "P99.9 (µs)",
                             "P100 (µs)", "Connections", "Errors"}) {
    EXPECT_THAT(run.out, testing::HasSubstr(column));
  }
  const std::vector<std::string> csv = LinesAfter(run.out, "CSV Results:");
  ASSERT_EQ(csv.size(), 4u) << run.out;
  EXPECT_EQ(csv[0], "inflight,throughput,p50,p90,p99,p99_9,p100");
  for (size_t i = 1; i < csv.size(); ++i) {
    const std::vector<std::string> cells = Split(csv[i]);
    ASSERT_EQ(cells.size(), 7u) << csv[i];
    EXPECT_EQ(cells[0], std::to_string(i));
    for (size_t c = 1; c < cells.size(); ++c) {
      const bool may_be_empty = c == 4 || c == 5;  // too few calls for P99 and P99.9
      if (cells[c].empty() && may_be_empty) continue;
      EXPECT_GT(std::stod(cells[c]), 0) << csv[i];
    }
    EXPECT_LE(std::stod(cells[2]), std::stod(cells[6])) << csv[i];
  }
}

TEST(PostFlagsTest, PerWorkerStats) {
  const ClientRun run =
      RunClient(Flags{"--host", SharedServer("cq").address(), "--inflight", "3", "--per-worker-stats"} + Short());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = LinesAfter(run.out, "Throughput per slot, in-flight 3:");
  ASSERT_EQ(lines.size(), 2u + 3u) << run.out;
  double total = 0;
  for (size_t i = 0; i < 3; ++i) {
    const std::string& line = lines[2 + i];
    EXPECT_THAT(line, testing::ContainsRegex("^ *" + std::to_string(i) + " \\|"));
    const double rate = std::stod(line.substr(line.find('|') + 1));
    EXPECT_GT(rate, 0) << line;
    total += rate;
  }
  // The slots' rates add up to the table's.
  const size_t row = run.out.find("\n        3 | ");
  ASSERT_NE(row, std::string::npos) << run.out;
  EXPECT_NEAR(std::stod(run.out.substr(row + 13)), total, 0.1) << run.out;
}

// In the post's program, --streaming has no effect together with --async.
TEST(PostFlagsTest, AsyncStreams) {
  for (const char* async : {"--async", "--async-callback"}) {
    Server server;
    const ClientRun run = RunShortly(server, {async, "--streaming", "--inflight", "2"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json result = run.Parsed();
    ASSERT_TRUE(result.is_object());
    EXPECT_EQ(result.at("context").at("method"), "streaming");
    const Json point = run.CleanPoint();
    const Served served = server.Stop(SIGTERM);
    EXPECT_EQ(served.calls, 2u) << async;
    EXPECT_GE(served.messages, point.at("completed")) << async;
  }
}

TEST(PostFlagsTest, MaxChannelsBoundsTheConnections) {
  const Json point =
      RunShortly(SharedServer("cq"), {"--local-pool", "--max-channels", "2", "--inflight", "5"}).CleanPoint();
  EXPECT_EQ(point.at("connections"), 2);
  EXPECT_EQ(point.at("channels"), 2);
}

TEST(PostFlagsTest, MaxAsyncClientsBoundsTheThreads) {
  const Json point =
      RunShortly(SharedServer("cq"), {"--async", "--local-pool", "--max-async-clients", "2", "--inflight", "6"})
          .CleanPoint();
  EXPECT_EQ(point.at("threads"), 2);
  EXPECT_EQ(point.at("connections"), 2);
}

TEST(SweepTest, RepetitionsAndStepGiveEveryPoint) {
  const ClientRun run =
      RunShortly(SharedServer("cq"), {"--min-inflight", "1", "--max-inflight", "4", "--inflight-step", "2",
                                      "--repetitions", "2", "--poll", "spin", "--async", "--threads", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json result = run.Parsed();
  ASSERT_TRUE(result.is_object());
  std::vector<std::pair<int, int>> points;
  for (const Json& b : result.at("benchmarks")) {
    if (b.at("run_type") != "iteration") continue;
    ExpectClean(b);
    points.emplace_back(b.at("repetition_index"), b.at("inflight"));
  }
  using P = std::pair<int, int>;
  EXPECT_THAT(points, testing::ElementsAre(P(0, 1), P(0, 3), P(0, 4), P(1, 1), P(1, 3), P(1, 4)));
}

// A library without threads of its own would never see a response: there the client refuses the setting.
TEST(PollTest, AQueueThatDoesNotPollWorksOrIsRefused) {
  const ClientRun run = RunShortly(SharedServer("cq"), {"--api", "cq", "--poll", "non-polling", "--inflight", "4"});
  if (run.exit_code == 2) {
    EXPECT_THAT(run.err, testing::HasSubstr("--poll: non-polling needs"));
    return;
  }
  run.CleanPoint();
  EXPECT_EQ(run.Parsed().at("context").at("poll"), "non-polling");
}

}  // namespace
}  // namespace cqbench::smoke
