// Our names of gRPC's compression algorithms.
#pragma once

#include <grpc/compression.h>

#include "src/config/wire_settings.h"

namespace cqbench {

inline grpc_compression_algorithm AlgorithmOf(Compression algorithm) {
  switch (algorithm) {
    case Compression::kNone:
      break;
    case Compression::kDeflate:
      return GRPC_COMPRESS_DEFLATE;
    case Compression::kGzip:
      return GRPC_COMPRESS_GZIP;
  }
  return GRPC_COMPRESS_NONE;
}

}  // namespace cqbench
