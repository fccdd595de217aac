// Where a server listens.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cqbench {

struct Target {
  std::string host;       // empty for a Unix socket
  int port = 0;           // 0 for a Unix socket, or "pick a free one" when listening
  std::string unix_path;  // empty for TCP

  bool is_unix() const { return !unix_path.empty(); }
  // "host:port", "[v6]:port" or "unix:PATH": what gRPC takes and what people read.
  std::string ToString() const;
  bool operator==(const Target&) const = default;
};

// Takes `host`, `host:port`, `v6`, `[v6]`, `[v6]:port`, `unix:PATH`. INVALID_ARGUMENT with one line that says what is
// accepted.
absl::StatusOr<Target> ParseTarget(absl::string_view text, int default_port);
// The same, separated by commas; at least one.
absl::StatusOr<std::vector<Target>> ParseTargets(absl::string_view text, int default_port);

}  // namespace cqbench
