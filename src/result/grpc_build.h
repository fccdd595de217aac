// How the gRPC of this process was built and linked.
#pragma once

#include <optional>
#include <string>

namespace cqbench {

struct GrpcBuild {
  std::string link;                // "static", "shared"; empty: not known
  std::optional<bool> assertions;  // it was compiled without NDEBUG; absent where that cannot be detected
};

// Reads the files of the process's code, which takes some 10 ms.
GrpcBuild DescribeGrpcBuild();

// "static, with assertions", for people; empty where nothing is known.
std::string ToString(const GrpcBuild& build);

}  // namespace cqbench
