// Maps the status of a failed HTTP response to a gRPC code.
#pragma once

#include <grpcpp/support/status_code_enum.h>

namespace cqbench {

// Returns gRPC's code by its documented mapping (doc/http-grpc-status-mapping.md), or, where a transcoded API is more
// precise, google.rpc.Code's.
inline grpc::StatusCode CodeOf(int status) {
  switch (status) {
    case 400:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case 401:
      return grpc::StatusCode::UNAUTHENTICATED;
    case 403:
      return grpc::StatusCode::PERMISSION_DENIED;
    case 404:
      return grpc::StatusCode::NOT_FOUND;
    case 409:
      return grpc::StatusCode::ABORTED;
    case 429:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case 499:
      return grpc::StatusCode::CANCELLED;
    case 500:
      return grpc::StatusCode::INTERNAL;
    case 501:
      return grpc::StatusCode::UNIMPLEMENTED;
    case 502:
    case 503:
      return grpc::StatusCode::UNAVAILABLE;
    case 408:
    case 504:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    default:
      return grpc::StatusCode::UNKNOWN;
  }
}

}  // namespace cqbench
