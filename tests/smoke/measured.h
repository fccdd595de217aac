// Runs whose results have a known right value: client and server have separate CPUs, and all counts must add up.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "src/observe/checks/self_check.h"
#include "src/stats/hdr_encoding.h"
#include "tests/smoke/harness.h"

namespace cqbench::smoke {

// Flags for one connection, which is one queue in theory.
inline Flags Measured(const Server& server) {
  return {"--host", server.address(), "--channel-policy", "shared", "--format", "json"};
}
inline Flags ClosedLoop(int slots, const Flags& more = {}) {
  return Flags{"--inflight", std::to_string(slots)} + more;
}

// Expects due = sent + dropped + unsent and sent = ok + failed + unfinished, exactly, in any run.
inline void ExpectCountsAddUp(const Json& point) {
  const auto count = [&](const char* key) { return point.at(key).get<uint64_t>(); };
  EXPECT_GT(count("calls_due"), 0u) << point;
  EXPECT_EQ(count("calls_due"), count("calls_sent") + count("calls_dropped") + count("calls_unsent")) << point;
  EXPECT_EQ(count("calls_sent"), count("calls_ok") + count("failed") + count("unfinished")) << point;
}

// Returns the command line of a client process; PointOf() takes the process.
inline std::vector<std::string> MeasuredCommand(const Server& server, const Flags& flags) {
  return OnClientCpus() + ClientCommand(Measured(server) + flags);
}
inline Json PointOf(const ClientRun& run, int exit_code = 0) {
  EXPECT_EQ(run.exit_code, exit_code) << run.err;
  const Json point = run.Point();
  if (point.is_object()) ExpectCountsAddUp(point);
  return point;
}
inline Json Measure(const Server& server, const Flags& flags) {
  Process client(MeasuredCommand(server, flags));
  return PointOf(Finish(client));
}

// Returns true if unrelated processes used the run's CPUs, by the run's own evidence, or if the server's evidence is
// missing. The warning other-processes begins at 10 %, which is too much for queues: at load 0.8 the mean wait grows by
// six times the share of the server's CPU that unrelated processes take.
inline bool IsDisturbed(const Json& point) {
  constexpr double kOthers = 0.03;
  for (const Json& warning : point.at("warnings")) {
    if (warning.at("code") == kOtherProcesses || warning.at("code") == kSteal) return true;
  }
  return point.value("server_cpus_busy", 1.0) - point.value("server_cores_used", 0.0) > kOthers;
}

// Counts calls with a latency above that; `histogram` is a key of the point.
inline uint64_t CallsAbove(const Json& point, const char* histogram, Nanos latency_ns) {
  const auto decoded = DecodeHdr(point.at(histogram).get<std::string>());
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  uint64_t calls = 0;
  if (!decoded.ok()) return calls;
  decoded->ForEach([&](Nanos value, uint64_t times) { calls += value > latency_ns ? times : 0; });
  return calls;
}

}  // namespace cqbench::smoke
