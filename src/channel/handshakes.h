// Begins to see the handshakes of this process.
#pragma once

namespace cqbench {

// Once; before gRPC has credentials.
void WatchHandshakes();

}  // namespace cqbench
