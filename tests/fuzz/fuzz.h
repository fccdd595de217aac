// What the fuzz targets share. libFuzzer calls LLVMFuzzerTestOneInput() with one input after the other; a target says
// what must hold for every one of them beside that nothing crashes, leaks or is undefined.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"

namespace cqbench::fuzz {

inline absl::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process, which libFuzzer takes for a finding and keeps the input of.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace cqbench::fuzz
