// How large a response a client may ask for.
#pragma once

#include <grpcpp/support/status.h>

#include <atomic>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "src/config/messages.h"

namespace cqbench {

// Maximum payload of a response in bytes. Global, as methods are stateless; set before the server serves.
inline std::atomic<uint32_t> max_response_bytes{kMaxPayloadBytes};

inline bool IsTooLarge(uint64_t bytes) {
  return bytes > max_response_bytes.load(std::memory_order_relaxed);
}
// `field` is what asked for it.
inline grpc::Status TooLarge(absl::string_view field) {
  return {grpc::StatusCode::INVALID_ARGUMENT,
          absl::StrCat(field, " is more than ", max_response_bytes.load(std::memory_order_relaxed), " bytes")};
}

}  // namespace cqbench
