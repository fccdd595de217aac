#include "src/workload/methods/methods.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace cqbench {

void DieOfUnknownMethod(int id) {
  std::fprintf(stderr, "cqbench: there is no method with id %d\n", id);
  std::abort();
}

const std::vector<MethodInfo>& AllMethodInfos() {
  static const std::vector<MethodInfo> all = [] {
    std::vector<MethodInfo> list;
    AllMethods::ForEach([&]<typename M>() {
      const int id = static_cast<int>(list.size());
      MethodInfo info{id,
                      std::string(M::kWorkload),
                      std::string(M::kName),
                      PathOf<M>(),
                      M::kShape,
                      M::kHasPayload,
                      HasContent<M>()};
      if constexpr (StreamsChunks<M>) {
        info.chunk_bytes = M::kChunked.chunk_bytes;
        info.chunks = M::kChunked.chunks;
      }
      list.push_back(info);
    });
    return list;
  }();
  return all;
}

const MethodInfo* FindMethod(absl::string_view workload, absl::string_view name) {
  const auto& all = AllMethodInfos();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const MethodInfo& m) { return m.workload == workload && m.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<HttpCall> HttpCallOf(const MethodInfo& method, const MessageConfig& config) {
  if (method.id == MethodInfo::kNotOurs) return std::nullopt;
  return AllMethods::With(method.id, [&]<typename M>() -> std::optional<HttpCall> {
    if constexpr (requires { M::Http(config); }) return M::Http(config);
    return std::nullopt;
  });
}

}  // namespace cqbench
