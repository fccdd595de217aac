// Parameters of parameterised tests, and their names in ctest.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace cqbench::smoke {

inline const std::vector<std::string> kServerApis = {"cq", "callback", "sync", "generic"};
inline const std::vector<std::string> kClientApis = {"sync", "cq", "callback"};

inline std::string ServerName(const testing::TestParamInfo<std::string>& tested) {
  return tested.param + "Server";
}

// A client API with one kind of call.
using ApiAndMode = std::tuple<std::string, std::string>;

inline auto EveryApiAndMode() {
  return testing::Combine(testing::ValuesIn(kClientApis), testing::Values("unary", "streaming"));
}
inline std::string ClientName(const testing::TestParamInfo<ApiAndMode>& tested) {
  return std::get<0>(tested.param) + "Client_" + std::get<1>(tested.param);
}

}  // namespace cqbench::smoke
