// A reliable point, for tests to spoil.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/observe/checks/self_check.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/process.h"

namespace cqbench {

inline void PrintTo(const Notice& notice, std::ostream* os) {
  *os << notice.code << ": " << notice.text;
}

// A notice with that code, and that in its text.
inline testing::Matcher<Notice> Is(const std::string& code, const std::string& text = "") {
  return testing::AllOf(testing::Field(&Notice::code, code), testing::Field(&Notice::text, testing::HasSubstr(text)));
}

// The CPUs that this process and `server_` may use, in the checks' input.
enum class Placement { kSameCpus, kOwnCpus, kOtherMachine };

inline ServerDescription Server(Placement placement) {
  ServerDescription server;
  server.set_boot_id(placement == Placement::kOtherMachine ? "another boot" : DescribeEnvironment(0, nullptr).boot_id);
  for (const int cpu : placement == Placement::kOwnCpus ? std::vector<int>{1'000'000} : AllowedCpus()) {
    server.add_cpus(cpu);
  }
  return server;
}

class PointCheck : public testing::Test {
 protected:
  // Makes a point without a fault.
  PointCheck() {
    point_.load.slots = 5;
    point_.window_ns = 10 * kNanosPerSecond;
    point_.completed = 1'000'000;
    point_.latency.emplace().count = 1'000'000;
    point_.latency->mean_ns = 50'000;  // 5 slots x 10 s / 1,000,000
    for (const char* side : {"client", "server"}) {
      Set(side, "_cpus_allowed", 4);
      Set(side, "_cores_used", 1);
      Set(side, "_cpus_busy", 1);
    }
    point_.figures.Set("server_rpcs", 1'000'000);
    SetTimeBuckets(std::vector<double>(10, 100'000));
    for (auto* cpus : {&point_.client_cpus, &point_.server_cpus}) cpus->push_back({0, 0.5, 0.5, 0, 0});
  }

  void Set(std::string side, const std::string& name, double value) { point_.figures.Set(side + name, value); }
  // Sets the time buckets, one a second.
  void SetTimeBuckets(const std::vector<double>& per_second) {
    point_.bucket_ns = kNanosPerSecond;
    point_.time_buckets.clear();
    for (double rate : per_second) point_.time_buckets.push_back({static_cast<uint64_t>(rate), 0, 0, 0, 0});
  }
  std::vector<Notice> Warnings() { return Checked().warnings; }
  std::vector<Notice> Notes() { return Checked().notes; }
  PointResult Checked() const {
    PointResult point = point_;
    CheckPoint(config_, servers_, point);
    return point;
  }

  PointResult point_;
  RunConfig config_;
  std::vector<ServerDescription> servers_ = {Server(Placement::kOwnCpus)};
};

}  // namespace cqbench
