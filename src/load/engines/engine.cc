#include "cqbench/engine.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/load/engines/engines.h"

namespace cqbench {
namespace {

std::shared_ptr<const BytesMethod> BytesOf(const RunConfig& config) {
  if (config.call != nullptr || config.messages != MessageStrategy::kBytes) return config.call;
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
    default:
      break;
  }
  if (shape == Shape::kUnary) return MakeCallbackUnaryEngine;
  return shape == Shape::kBidi ? MakeCallbackBidiEngine : MakeCallbackTransferEngine;
}

std::map<ClientApi, EngineFactory>& Factories() {
  static std::map<ClientApi, EngineFactory> factories;
  return factories;
}

// With the sync API each slot's thread keeps the schedule by itself; an engine of a factory has a pacer in each thread.
int PacersOf(const EngineContext& context) {
  if (context.config.api == ClientApi::kSync) return 1;
  if (context.channels == nullptr) return context.threads;
  return std::min(PacersFor(context.load.rate), context.load.slots);
}

}  // namespace

void RegisterEngines(ClientApi api, const EngineFactory& factory) {
  Factories()[api] = factory;
}

bool ConnectsByItself(ClientApi api) {
  return Factories().contains(api);
}

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const RunConfig& config, const ChannelPool* channels,
                                                   const Load& load, int threads, const RunWindow& window,
                                                   Nanos length_ns, const std::function<bool()>& stop) {
  EngineContext context{config, channels, load, threads, window, {}, 0, BytesOf(config)};
  ChannelPlan plan;  // of the connections that a factory's engine makes
  if (channels == nullptr) {
    if (!ConnectsByItself(config.api)) {
      return absl::FailedPreconditionError(absl::StrCat("no engines are registered for --api ", ToString(config.api)));
    }
    plan = PlanChannels(config.policy, load.slots, static_cast<int>(config.targets.size()));
    context.threads = Factories()[config.api].threads(plan, threads);
  }
  if (load.open()) {
    const int pacers = PacersOf(context);
    auto schedule = DrawSchedule(config.schedule, load.rate, length_ns, pacers);
    if (!schedule.ok()) return schedule.status();
    context.schedule = *std::move(schedule);
    if (config.schedule.pace == Pace::kHybrid) context.margin_ns = CalibrateMargin(load.rate / pacers);
  }
  if (channels == nullptr) return Factories()[config.api].make(context, plan, stop);
  return MakerFor(config.api, config.method.shape)(context);
}

}  // namespace cqbench
