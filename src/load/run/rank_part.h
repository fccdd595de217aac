// One rank's part in a point that several client processes measure together.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cqbench/measurement.h"
#include "cqbench/ranks.h"
#include "cqbench/recorder.h"
#include "cqbench/result.h"

namespace cqbench {

// All calls from the runner's thread, in this order. Without others (`ranks` is nullptr) there is nothing to be agreed
// on and nothing to be said.
class RankPart {
 public:
  explicit RankPart(Ranks* ranks) : ranks_(ranks) {}

  bool alone() const { return ranks_ == nullptr; }
  // As Ranks::Agree(); afterwards there is a window().
  absl::Status Agree(const RankPlan& plan, Interrupt& interrupt);
  bool agreed() const { return window_.has_value(); }
  const RankWindow& window() const { return *window_; }
  // How long nobody may have been seen awake around a boundary of the window: what a rank that a scheduler held up
  // stays below.
  static constexpr Nanos kHeldUp = 10 * kNanosPerMilli;
  // The runner's thread wakes up this long before each boundary, so that it is seen awake.
  static constexpr Nanos kAwakeBefore = kNanosPerMilli;
  // The runner's thread is awake, before a boundary or between the two.
  void Awake(Nanos now) { awake_ns_ = now; }
  // When it found that the window was open, and that it was closed.
  void SawOpen(Nanos now) { open_ = {awake_ns_, now}; }
  void SawClose(Nanos now) { close_ = {awake_ns_, now}; }
  // When the calls have ended, or never will.
  void Compare();
  // Nothing was measured. The others are told, unless they have seen this rank begin.
  void Fail(absl::string_view why);
  // Who and where this is.
  std::optional<RankResult> Describe() const;
  // And when the point's window was open; absent when it never was.
  std::optional<RankTiming> DescribeTiming(const RunWindow& window, const Measurement& measurement) const;

 private:
  Ranks* const ranks_;
  std::optional<RankWindow> window_;
  RankClock clock_;
  // Times at which a thread was running, around a window boundary.
  struct Seen {
    std::optional<Nanos> before_ns;
    Nanos after_ns = INT64_MAX;
  };
  static Nanos Boundary(const Seen& seen, Nanos boundary_ns);

  std::optional<Nanos> awake_ns_;
  Seen open_;
  Seen close_;
};

}  // namespace cqbench
