// By which calls of the library the client makes its calls, and how its threads wait for their ends.
#pragma once

#include "src/base/enum_names.h"

namespace cqbench {

// gRPC's blocking stubs, its completion queues, its reactors; or requests of plain HTTP.
enum class ClientApi { kSync, kCq, kCallback, kHttp1, kHttp2 };
constexpr auto NamesOf(ClientApi) {
  return std::to_array<EnumName<ClientApi>>({{ClientApi::kSync, "sync"},
                                             {ClientApi::kCq, "cq"},
                                             {ClientApi::kCallback, "callback"},
                                             {ClientApi::kHttp1, "http1"},
                                             {ClientApi::kHttp2, "http2"}});
}
inline bool IsHttp(ClientApi api) {
  return api == ClientApi::kHttp1 || api == ClientApi::kHttp2;
}

// How threads take events from a completion queue: asleep in the library, which polls sockets there; asking all the
// time; or asleep on a queue that polls nothing (GRPC_CQ_NON_POLLING), where the library has other threads that do.
enum class PollMode { kBlock, kSpin, kNonPolling };
constexpr auto NamesOf(PollMode) {
  return std::to_array<EnumName<PollMode>>(
      {{PollMode::kBlock, "block"}, {PollMode::kSpin, "spin"}, {PollMode::kNonPolling, "non-polling"}});
}

}  // namespace cqbench
