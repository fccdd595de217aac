// The client over HTTP/1.1 and HTTP/2 measures what the same call costs without gRPC: a few threads, each with an event
// loop of its own, some connections, and the slots whose calls go over them. In an open loop a thread is its own pacer.
#pragma once

namespace cqbench {

// Registers the engines of ClientApi::kHttp1 and kHttp2. Main thread, once.
void RegisterHttpEngines();

}  // namespace cqbench
