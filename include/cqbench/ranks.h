// Several client processes that measure one point together: each rank's share, and the common window.
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

// One of `count` processes, from 0.
struct RankId {
  int index = 0;
  int count = 1;
};

// Returns a rank's share of a total. The shares of all ranks add up exactly; the first ranks take the remainder, one
// each.
int ShareOf(int total, const RankId& rank);
uint64_t ShareOf(uint64_t calls, const RankId& rank);
// The same in whole calls per second if the rate is whole and at least one for each rank; otherwise equal parts, whose
// sum is exact but for the last bit.
double ShareOf(double rate, const RankId& rank);
// Each rank draws from its own seed. The first rank's is the seed itself, so that it acts like a single client.
uint64_t SeedOf(uint64_t seed, const RankId& rank);

// The data with which a rank proposes a window or keeps one.
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
// This process's clock relative to the clock in which all ranks report. That is rank 0's clock, unless the ranks agreed
// by the wall clock alone; then it counts from the agreed start.
struct RankClock {
  Nanos offset_ns = 0;  // to be added to ours
  Nanos bound_ns = 0;   // of the offset's error, on either side
  std::optional<double> drift_ns_per_s;
};

// Agrees on a window with the other ranks. All calls are from the runner's thread; those that wait sleep, and end at a
// signal. No message is sent between the end of Agree() and Compare(), so that messages do not disturb the measurement.
// No rank waits for another at the window boundaries.
class Ranks {
 public:
  // A rank announces a window at least this long before the warm-up begins.
  static constexpr Nanos kLead = 50 * kNanosPerMilli;

  virtual ~Ranks() = default;
  virtual RankId id() const = 0;
  // Call once for each point, when this rank is connected and ready to begin. Returns the window that rank 0 announced,
  // which may have begun if this rank is late. CANCELLED at a signal, FAILED_PRECONDITION with one line if the other
  // ranks did not come.
  virtual absl::StatusOr<RankWindow> Agree(const RankPlan& plan, Interrupt& interrupt) = 0;
  // Call instead of Agree() if this rank cannot measure the point; the other ranks continue without it.
  virtual void Miss(absl::string_view why) = 0;
  // Call after a point whose calls have ended: compares the clocks once more.
  virtual RankClock Compare() = 0;
  // After a point, whether it was measured or not, and after its report (EncodeRankReport()) is on the disk: sends the
  // report to rank 0. Rank 0 returns the reports of all by rank, empty for ranks that have gone; other ranks return
  // nothing, and so does rank 0 where ranks cannot talk while the run goes on.
  virtual std::vector<std::string> Collect(std::string /*report*/) { return {}; }
  // This rank takes part in no further point.
  virtual void Leave() = 0;
};

}  // namespace cqbench
