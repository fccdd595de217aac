// The functions that make gRPC's engines: one per client API and shape, so that each file compiles a part.
#pragma once

#include <memory>

#include "src/load/pacing/engine_context.h"

namespace cqbench {

using MakeEngineFunction = std::unique_ptr<Engine>(const EngineContext& context);
// Every shape.
MakeEngineFunction MakeSyncEngine;
// By shape: unary, client- and server-streaming, bidirectional.
MakeEngineFunction MakeCqUnaryEngine, MakeCqTransferEngine, MakeCqBidiEngine;
MakeEngineFunction MakeCallbackUnaryEngine, MakeCallbackTransferEngine, MakeCallbackBidiEngine;

}  // namespace cqbench
