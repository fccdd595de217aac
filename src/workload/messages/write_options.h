// Passes --write-hint to the library.
#pragma once

#include <grpcpp/grpcpp.h>

#include "src/config/messages.h"

namespace cqbench {

// Options for a message that is not its stream's last.
inline grpc::WriteOptions WriteOptionsFor(WriteHint hint) {
  return hint == WriteHint::kNone ? grpc::WriteOptions() : grpc::WriteOptions().set_buffer_hint();
}

}  // namespace cqbench
