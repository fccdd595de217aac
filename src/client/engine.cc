#include "cqbench/engine.h"

#include "src/client/slot_engine.h"

namespace cqbench {

std::unique_ptr<Engine> MakeEngine(const RunConfig& config, const ChannelPool& pool, int inflight, int threads,
                                   const RunWindow& window) {
  const EngineContext context{config, pool, inflight, threads, window};
  switch (config.api) {
    case ClientApi::kCq:
      return MakeCqEngine(context);
    case ClientApi::kCallback:
      return MakeCallbackEngine(context);
    case ClientApi::kSync:
      break;
  }
  return MakeSyncEngine(context);
}

}  // namespace cqbench
