// The client over HTTP/1.1 and HTTP/2 measures what the same call costs without gRPC: a few threads, each with an event
// loop of its own, some connections, and the slots whose calls go over them. In an open loop a thread is its own pacer.
#pragma once

#include "absl/status/status.h"

namespace cqbench {

// Registers the engines of ClientApi::kHttp1 and kHttp2. Main thread, once. FAILED_PRECONDITION in a program that was
// built without what they need, which the message names.
absl::Status RegisterHttpEngines();

}  // namespace cqbench
