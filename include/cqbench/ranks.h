// Several client processes that measure one point together: what each does of it, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/base/clock.h"
#include "src/base/interrupt.h"

namespace cqbench {

inline constexpr int kMaxRanks = 10'000;
// A point of several machines numbers the CPUs of the second from here on, those of the third from twice as many.
inline constexpr int kCpusOfMachine = 100'000;

// One of `count` processes, from 0.
struct RankId {
  int index = 0;
  int count = 1;
};

// What a rank does of a whole. The shares of all ranks add up to it exactly; what does not divide goes to the first
// ones, one each.
int ShareOf(int total, const RankId& rank);
uint64_t ShareOf(uint64_t calls, const RankId& rank);
// The same in whole calls per second where the rate is whole and there is one for each; otherwise equal parts, whose
// sum is exact but for the last bit.
double ShareOf(double rate, const RankId& rank);
// Each rank draws from its own seed; the first one's is the seed itself, so that it does what a single client does.
uint64_t SeedOf(uint64_t seed, const RankId& rank);

// What a rank needs to know to propose a window, or to keep one.
struct RankPlan {
  Nanos lead_ns = 0;  // for its samples before the warm-up, or before the window when there is no warm-up
  Nanos warmup_ns = 0;
  Nanos interval_ns = 0;
};
// When the warm-up begins, and when the window opens and closes, in this process's clock.
struct RankWindow {
  Nanos start_ns = 0;
  Nanos open_ns = 0;
  Nanos close_ns = 0;
};
// This process's clock beside the one that all ranks report in, which is rank 0's unless they agreed by the wall clock
// alone; then it counts from the time at which they were to start.
struct RankClock {
  Nanos offset_ns = 0;  // to be added to ours
  Nanos bound_ns = 0;   // of the offset's error, on either side
  std::optional<double> drift_ns_per_s;
};

// How ranks come to the same window. All calls from the runner's thread; those that wait sleep, and end when a signal
// comes. Nothing is said to another rank between the end of Agree() and Compare(), so that nobody's messages
// disturb what is measured, and no rank waits for another at the window's edges.
class Ranks {
 public:
  // Who announces a window does so at least this long before the warm-up begins.
  static constexpr Nanos kLead = 50 * kNanosPerMilli;

  virtual ~Ranks() = default;
  virtual RankId id() const = 0;
  // Once for each point, when this rank is connected and has nothing left to do but to begin: the window that rank 0
  // announced, which may have begun when this rank is late. CANCELLED when a signal came, FAILED_PRECONDITION with one
  // line when the others are not to be waited for.
  virtual absl::StatusOr<RankWindow> Agree(const RankPlan& plan, Interrupt& interrupt) = 0;
  // Instead of Agree(): this rank cannot measure the point, and why. The others go on without it.
  virtual void Miss(absl::string_view why) = 0;
  // After a point whose calls have ended: the clocks, looked at once more.
  virtual RankClock Compare() = 0;
  // After a point, whether it was measured or not, and after its report (EncodeRankReport()) is on the disk: sends the
  // report to rank 0. Rank 0 returns the reports of all by rank, empty for ranks that have gone; other ranks return
  // nothing, and so does rank 0 where ranks cannot talk while the run goes on.
  virtual std::vector<std::string> Collect(std::string /*report*/) { return {}; }
  // This rank takes part in no further point.
  virtual void Leave() = 0;
};

}  // namespace cqbench
