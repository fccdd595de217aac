// How much is asked of the server, and when: the points of a sweep, the schedule of an open loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/base/clock.h"
#include "src/base/enum_names.h"

namespace cqbench {

inline constexpr int kMaxInflight = 100'000;
inline constexpr double kMaxRate = 10e6;  // calls per second
// Time buckets. Each thread that records calls has its own, some 10 KiB each once there is something in them.
inline constexpr Nanos kMinTimeBucket = kNanosPerMilli;
inline constexpr int kMaxTimeBuckets = 1000;
inline constexpr int kMaxTimeBucketsOfThreads = 25'000;

// In a closed loop a slot waits so long after a call that failed, so that a dead server is not asked a hundred thousand
// times a second. In an open loop a dead server gets the rate that was asked for, not more.
inline constexpr Nanos kBackOffAfterFailure = 10 * kNanosPerMilli;

enum class Arrivals { kPoisson, kConstant };
constexpr auto NamesOf(Arrivals) {
  return std::to_array<EnumName<Arrivals>>({{Arrivals::kPoisson, "poisson"}, {Arrivals::kConstant, "constant"}});
}

// The policy for a call that is due while all slots are taken: it waits and keeps its scheduled time, or it is dropped.
enum class AtLimit { kQueue, kDrop };
constexpr auto NamesOf(AtLimit) {
  return std::to_array<EnumName<AtLimit>>({{AtLimit::kQueue, "queue"}, {AtLimit::kDrop, "drop"}});
}

// How the pacer waits for the next due time: asleep, asleep until shortly before it, or asking the clock all the time.
enum class Pace { kSleep, kHybrid, kSpin };
constexpr auto NamesOf(Pace) {
  return std::to_array<EnumName<Pace>>({{Pace::kSleep, "sleep"}, {Pace::kHybrid, "hybrid"}, {Pace::kSpin, "spin"}});
}

// Open loop only.
struct ScheduleConfig {
  Arrivals arrivals = Arrivals::kPoisson;
  AtLimit at_limit = AtLimit::kQueue;
  Pace pace = Pace::kHybrid;
  uint64_t seed = 1;
};

// The load level of one point of a sweep.
struct Load {
  int slots = 1;    // calls in flight: always as many in a closed loop, at most as many in an open one
  double rate = 0;  // calls per second over all slots; 0: a closed loop

  bool open() const { return rate > 0; }
  // The load level as text: "in-flight 8", "rate 2000/s" for people; "inflight:8", "rate:2000" in names.
  std::string Label() const;
  std::string Key() const;
  bool operator==(const Load&) const = default;
};

// The in-flight counts min, min+step, … up to and including max.
std::vector<int> SweepRange(int min, int max, int step);
// "1,2,4": each in 1..kMaxInflight, none twice.
absl::StatusOr<std::vector<int>> ParseInflightList(absl::string_view text);

// The rates min, min+step, … up to and including max.
std::vector<double> RateRange(double min, double max, double step);
// "1000,2000": each in (0, kMaxRate], none twice.
absl::StatusOr<std::vector<double>> ParseRateList(absl::string_view text);

}  // namespace cqbench
