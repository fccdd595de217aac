// Which channel arguments were asked for.
#pragma once

#include <algorithm>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/config/wire_settings.h"

namespace cqbench {

// gRPC 1.51.1 takes the first value of an argument that is set twice, so ours must not come before the user's.
inline bool IsGiven(const std::vector<ChannelArg>& args, absl::string_view key) {
  return std::any_of(args.begin(), args.end(), [&](const ChannelArg& arg) { return arg.key == key; });
}

}  // namespace cqbench
