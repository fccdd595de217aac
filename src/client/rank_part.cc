#include "src/client/rank_part.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cqbench/environment.h"
#include "cqbench/process.h"

namespace cqbench {

absl::Status RankPart::Agree(const RankPlan& plan, Interrupt& interrupt) {
  auto agreed = ranks_->Agree(plan, interrupt);
  if (agreed.ok()) window_ = *std::move(agreed);
  return agreed.status();
}

void RankPart::Compare() {
  if (agreed()) clock_ = ranks_->Compare();
}

void RankPart::Fail(absl::string_view why) {
  if (!alone() && !agreed()) ranks_->Miss(why);
}

std::optional<RankResult> RankPart::Describe() const {
  if (alone()) return std::nullopt;
  RankResult rank;
  rank.index = ranks_->id().index;
  rank.count = ranks_->id().count;
  rank.host = DescribeEnvironment(0, nullptr).host_name;
  rank.pid = getpid();
  rank.cpus_allowed = FormatCpuList(AllowedCpus());
  return rank;
}

std::optional<RankResult::Timing> RankPart::DescribeTiming(const RunWindow& window,
                                                           const Measurement& measurement) const {
  if (!agreed() || saw_open_ns_ == INT64_MAX || window.close_ns() <= window.open_ns()) return std::nullopt;
  const Nanos offset = clock_.offset_ns;
  RankResult::Timing timing;
  timing.offset_ns = offset;
  timing.offset_bound_ns = clock_.bound_ns;
  timing.drift_ns_per_s = clock_.drift_ns_per_s;
  timing.announced_open_ns = window_->open_ns + offset;
  timing.announced_close_ns = window_->close_ns + offset;
  // Whoever was awake first: the runner's thread, which may have to wait for a CPU, or one that saw a call end.
  const Nanos opened = std::min(saw_open_ns_, measurement.first_end_ns);
  const Nanos closed = std::min(saw_close_ns_, measurement.first_end_after_ns);
  timing.window_open_ns = std::max(opened, window.open_ns()) + offset;
  timing.window_close_ns = std::max(closed, window.close_ns()) + offset;
  return timing;
}

}  // namespace cqbench
