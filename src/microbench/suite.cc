#include "src/microbench/suite.h"

#include <atomic>

#include "absl/strings/str_cat.h"

namespace cqbench::microbench {
namespace {

std::atomic<bool> any_failed{false};

}  // namespace

void Fail(benchmark::State& state, const std::string& why) {
  any_failed = true;
  state.SkipWithError(why.c_str());
}

bool AnyFailed() {
  return any_failed;
}

std::string SizeName(uint32_t bytes) {
  if (bytes >= 1u << 20 && bytes % (1u << 20) == 0) return absl::StrCat(bytes >> 20, "MiB");
  if (bytes >= 1u << 10 && bytes % (1u << 10) == 0) return absl::StrCat(bytes >> 10, "KiB");
  return absl::StrCat(bytes, "B");
}

}  // namespace cqbench::microbench
