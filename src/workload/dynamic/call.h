// A user's own method: from what was typed to what engines and servers take.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cqbench/server.h"

namespace cqbench {

struct RunConfig;

// The source of the description. Neither a file nor a set: the server's reflection.
struct DescriptionSource {
  std::string proto;
  std::vector<std::string> import_paths;
  std::string protoset;
};

struct CallSpec {
  std::string method;  // "package.Service/Method"; empty: there is none
  DescriptionSource source;
  std::string data = "{}";  // JSON, or @FILE
  DataOrder order = DataOrder::kRotate;
  uint64_t seed = 1;
  bool check_responses = false;
  std::optional<std::string> expect;  // JSON, or @FILE
  bool counts_messages = false;       // how many a stream has was said; otherwise a client's has as many as the data
};

// Facts about the requests, for the result.
struct CallFacts {
  int messages = 0;
  uint64_t hash = 0;  // of their bytes, in order
};

// Makes the method, and the number of its messages where that was not said, part of `run`, asking the server what it
// has if need be. The error is one line that begins with the flag: NOT_FOUND and INVALID_ARGUMENT for what was typed
// wrong, others for a server that cannot be asked.
absl::StatusOr<CallFacts> ResolveCall(const CallSpec& spec, RunConfig& run);

// Who answers in the place of a user's service. `data` are the responses. The error as above.
absl::StatusOr<StandIn> MakeStandIn(const CallSpec& spec);

}  // namespace cqbench
