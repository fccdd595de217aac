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
  // When the runner's thread found that the window was open, and that it was closed.
  void SawOpen(Nanos now) { saw_open_ns_ = now; }
  void SawClose(Nanos now) { saw_close_ns_ = now; }
  // When the calls have ended, or never will.
  void Compare();
  // Nothing was measured. The others are told, unless they have seen this rank begin.
  void Fail(absl::string_view why);
  // Who and where this is.
  std::optional<RankResult> Describe() const;
  // And when the point's window was open; absent when it never was.
  std::optional<RankResult::Timing> DescribeTiming(const RunWindow& window, const Measurement& measurement) const;

 private:
  Ranks* const ranks_;
  std::optional<RankWindow> window_;
  RankClock clock_;
  Nanos saw_open_ns_ = INT64_MAX;
  Nanos saw_close_ns_ = INT64_MAX;
};

}  // namespace cqbench
