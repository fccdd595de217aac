#include "cqbench/engine.h"

#include <algorithm>

#include "src/client/slot_engine.h"

namespace cqbench {
namespace {

std::unique_ptr<Engine> MakeFor(const EngineContext& context) {
  switch (context.config.api) {
    case ClientApi::kCq:
      return MakeCqEngine(context);
    case ClientApi::kCallback:
      return MakeCallbackEngine(context);
    case ClientApi::kSync:
      break;
  }
  return MakeSyncEngine(context);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const RunConfig& config, const ChannelPool& pool, const Load& load,
                                                   int threads, const RunWindow& window, Nanos length_ns) {
  EngineContext context{config, pool, load, threads, window, {}, 0};
  if (load.open()) {
    // With the sync API each slot's thread keeps the schedule by itself.
    const int pacers = config.api == ClientApi::kSync ? 1 : std::min(PacersFor(load.rate), load.slots);
    auto schedule = DrawSchedule(config.schedule, load.rate, length_ns, pacers);
    if (!schedule.ok()) return schedule.status();
    context.schedule = *std::move(schedule);
    if (config.schedule.pace == Pace::kHybrid) context.margin_ns = CalibrateMargin();
  }
  return MakeFor(context);
}

}  // namespace cqbench
