// Settings for the context of each gRPC call besides a deadline. Most runs have none.
#pragma once

#include <grpcpp/client_context.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cqbench/run_config.h"

namespace cqbench {

// Made before the calls begin.
class CallSetup {
 public:
  // `config` must outlive it.
  CallSetup(const RunConfig& config, int slots);
  // False: Apply() would do nothing.
  bool needed() const { return needed_; }
  // Each slot's by one thread at a time. Allocates what AddMetadata() does, which copies key and value.
  void Apply(grpc::ClientContext& context, int slot);

 private:
  // The values of a slot's next call. On cache lines of its own.
  struct alignas(64) Changing {
    std::string value;
    uint64_t number = 0;
  };
  const std::string& NextValue(int slot);

  const RunConfig& config_;
  std::vector<std::string> keys_;   // of the metadata that is made
  std::string value_;               // of all of them, unless it changes
  std::vector<Changing> changing_;  // by slot; empty: it does not
  bool needed_ = false;
};

}  // namespace cqbench
