// How texts name a run.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "cqbench/result.h"

namespace cqbench {

// "server-1:2137,server-2:2137".
std::string TargetNames(const RunConfig& run);
// "HTTP/1.1", "h2c"; empty: calls are gRPC's.
absl::string_view HttpVersion(const RunConfig& run);
// The message allocation strategy where it is not the default: "arena"; empty otherwise, and over HTTP.
absl::string_view OtherMessages(const RunConfig& run);
// "generic", "buffer-reusing" where messages go through the generic stub; empty otherwise.
absl::string_view OtherStub(const RunConfig& run);

}  // namespace cqbench
