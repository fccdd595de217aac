// Shared by the fuzz targets. libFuzzer calls LLVMFuzzerTestOneInput() with one input after the other. Each target
// checks what must hold for every input; crashes, leaks and undefined behaviour are detected anyway.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"

namespace cqbench::fuzz {

inline absl::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process unless `holds`; libFuzzer then reports a finding and keeps the input.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace cqbench::fuzz
