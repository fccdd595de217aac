#include "src/load/run/rank_part.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/process.h"

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

// Whoever was awake first: the runner's thread, which may have to wait for a CPU, or one that saw a call end.
std::optional<RankTiming> RankPart::DescribeTiming(const RunWindow& window, const Measurement& measurement) const {
  if (!agreed() || open_.after_ns == INT64_MAX || window.close_ns() <= window.open_ns()) return std::nullopt;
  const Seen open{open_.before_ns, std::max(std::min(open_.after_ns, measurement.first_end_ns), window.open_ns())};
  const Seen close{close_.before_ns,
                   std::max(std::min(close_.after_ns, measurement.first_end_after_ns), window.close_ns())};
  const Nanos offset = clock_.offset_ns;
  RankTiming timing;
  timing.offset_ns = offset;
  timing.offset_bound_ns = clock_.bound_ns;
  timing.drift_ns_per_s = clock_.drift_ns_per_s;
  timing.announced_open_ns = window_->open_ns + offset;
  timing.announced_close_ns = window_->close_ns + offset;
  timing.window_open_ns = Boundary(open, window.open_ns()) + offset;
  timing.window_close_ns = Boundary(close, window.close_ns()) + offset;
  timing.awake_open_ns = open.after_ns + offset;
  timing.awake_close_ns = close.after_ns + offset;
  return timing;
}

// As it was set, when the process was there.
Nanos RankPart::Boundary(const Seen& seen, Nanos boundary_ns) {
  return seen.before_ns && seen.after_ns - *seen.before_ns <= kHeldUp ? boundary_ns : seen.after_ns;
}

}  // namespace cqbench
