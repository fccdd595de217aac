// The arguments that an engine is made from.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cqbench/engine.h"
#include "cqbench/recorder.h"
#include "cqbench/run_config.h"
#include "cqbench/schedule.h"
#include "src/channel/channel_pool.h"
#include "src/workload/methods/bytes_method.h"

namespace cqbench {

struct EngineContext {
  const RunConfig& config;
  const ChannelPool* channels;  // connected; nullptr where engines of this API make connections of their own
  const Load& load;
  int threads;
  const RunWindow& window;
  std::vector<DueTimes> schedule;            // of each pacer; empty: a closed loop
  Nanos margin_ns;                           // of hybrid pacing
  std::shared_ptr<const BytesMethod> bytes;  // nullptr where messages are not bytes
};

}  // namespace cqbench
