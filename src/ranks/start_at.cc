#include "src/ranks/start_at.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "src/config/units.h"
#include "src/ranks/wall_clock.h"

namespace cqbench {
namespace {

class StartAtRanks : public Ranks {
 public:
  StartAtRanks(const RankId& id, Nanos start_wall_ns) : id_(id), start_wall_ns_(start_wall_ns) {}

  RankId id() const override { return id_; }

  absl::StatusOr<RankWindow> Agree(const RankPlan& plan, Interrupt& interrupt) override {
    clock_ = ProbeWallClock();
    if (interrupt.Pending()) return absl::CancelledError("interrupted before the time to start at");
    const Nanos start = start_wall_ns_ - clock_.offset_ns;
    if (const Nanos late = NowNs() + plan.lead_ns - start; late > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("connected and ready ", absl::FormatDuration(absl::Nanoseconds(late)),
                       " too late for --start-at: the time must leave room for every rank to begin and to connect"));
    }
    return RankWindow{start, start + plan.warmup_ns, start + plan.warmup_ns + plan.interval_ns};
  }

  void Miss(absl::string_view /*why*/) override {}

  // The wall clock's gain in the meantime is no evidence about another rank's clock.
  RankClock Compare() override {
    return {clock_.offset_ns - start_wall_ns_, clock_.bound_ns + WallClockError(), std::nullopt};
  }

  void Leave() override {}

 private:
  const RankId id_;
  const Nanos start_wall_ns_;
  ClockOffset clock_;
};

}  // namespace

std::unique_ptr<Ranks> MakeStartAtRanks(const RankId& id, Nanos start_wall_ns) {
  return std::make_unique<StartAtRanks>(id, start_wall_ns);
}

}  // namespace cqbench
