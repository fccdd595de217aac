#include "cqbench/engine.h"

#include <algorithm>

#include "src/client/engine_context.h"

namespace cqbench {
namespace {

std::shared_ptr<const BytesMethod> BytesOf(const RunConfig& config) {
  if (config.call != nullptr || config.messages != MessageHolder::kBytes) return config.call;
  return MakeBytesMethod(config.method.id, config.message);
}

MakeEngineFunction* MakerFor(ClientApi api, Shape shape) {
  switch (api) {
    case ClientApi::kSync:
      return MakeSyncEngine;
    case ClientApi::kCq:
      if (shape == Shape::kUnary) return MakeCqUnaryEngine;
      return shape == Shape::kBidi ? MakeCqBidiEngine : MakeCqTransferEngine;
    case ClientApi::kCallback:
      break;
  }
  if (shape == Shape::kUnary) return MakeCallbackUnaryEngine;
  return shape == Shape::kBidi ? MakeCallbackBidiEngine : MakeCallbackTransferEngine;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const RunConfig& config, const ChannelPool& pool, const Load& load,
                                                   int threads, const RunWindow& window, Nanos length_ns) {
  EngineContext context{config, pool, load, threads, window, {}, 0, BytesOf(config)};
  if (load.open()) {
    // With the sync API each slot's thread keeps the schedule by itself.
    const int pacers = config.api == ClientApi::kSync ? 1 : std::min(PacersFor(load.rate), load.slots);
    auto schedule = DrawSchedule(config.schedule, load.rate, length_ns, pacers);
    if (!schedule.ok()) return schedule.status();
    context.schedule = *std::move(schedule);
    if (config.schedule.pace == Pace::kHybrid) context.margin_ns = CalibrateMargin(load.rate / pacers);
  }
  return MakerFor(config.api, config.method.shape)(context);
}

}  // namespace cqbench
