#include "cqbench/engine.h"

#include <algorithm>
#include <optional>

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

// With the sync API each slot's thread keeps the schedule by itself; over HTTP each event loop its part of it.
int PacersOf(const EngineContext& context) {
  if (context.config.api == ClientApi::kSync) return 1;
  if (IsHttp(context.config.api)) return context.threads;
  return std::min(PacersFor(context.load.rate), context.load.slots);
}

EngineFactory& HttpFactory() {
  static EngineFactory factory;
  return factory;
}

}  // namespace

void RegisterHttpEngines(const EngineFactory& factory) {
  HttpFactory() = factory;
}

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const RunConfig& config, const ChannelPool& pool, const Load& load,
                                                   int threads, const RunWindow& window, Nanos length_ns,
                                                   const std::function<bool()>& stop) {
  EngineContext context{config, pool, load, threads, window, {}, 0, BytesOf(config)};
  std::optional<ChannelPlan> connections;  // without gRPC's channels the engine makes them
  if (IsHttp(config.api)) {
    if (HttpFactory().make == nullptr) return absl::FailedPreconditionError("no HTTP engines are registered");
    connections = PlanChannels(config.policy, load.slots, static_cast<int>(config.targets.size()));
    context.threads = HttpFactory().threads(*connections, threads);
  }
  if (load.open()) {
    const int pacers = PacersOf(context);
    auto schedule = DrawSchedule(config.schedule, load.rate, length_ns, pacers);
    if (!schedule.ok()) return schedule.status();
    context.schedule = *std::move(schedule);
    if (config.schedule.pace == Pace::kHybrid) context.margin_ns = CalibrateMargin(load.rate / pacers);
  }
  if (connections) return HttpFactory().make(context, *connections, stop);
  return MakerFor(config.api, config.method.shape)(context);
}

}  // namespace cqbench
