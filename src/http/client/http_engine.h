// The client over HTTP/1.1 and HTTP/2 measures what the same call costs without gRPC: a few threads, each with an event
// loop of its own, some connections, and the slots whose calls go over them. In an open loop a thread is its own pacer.
#pragma once

#include "cqbench/engine.h"

namespace cqbench {

// For RegisterHttpEngines().
EngineFactory HttpEngines();

}  // namespace cqbench
