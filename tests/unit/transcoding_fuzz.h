// Random inputs: CQBENCH_FUZZ_INPUTS is their number, CQBENCH_FUZZ_SEED their seed.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/unit/transcoding_encoder.h"

namespace cqbench::transcoding {

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  if (text == nullptr) return otherwise;
  EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << name << "=" << text;
  return value;
}

class Fuzz : public ::testing::Test {
 protected:
  // Calls `one` with each input; stops at the first that fails.
  template <typename Make, typename One>
  void Run(uint64_t inputs, const Make& make, const One& one) {
    inputs = FromEnvironment("CQBENCH_FUZZ_INPUTS", inputs);
    for (uint64_t i = 0; i < inputs && !HasFailure(); ++i) {
      const std::string input = make();
      one(input);
      if (HasFailure()) ADD_FAILURE() << "input " << i << ": '" << input << "'";
    }
  }

  // Joins parts in a random order; changes some bytes in one of four cases.
  std::string FromParts(const std::vector<std::string>& parts, uint64_t most) {
    std::string text;
    for (uint64_t n = Below(random_, most); n > 0; --n) text += parts[Below(random_, parts.size())];
    if (Below(random_, 4) == 0) text = Mutated(std::move(text));
    return text;
  }

  std::string Mutated(std::string text) {
    for (uint64_t n = 1 + Below(random_, 3); n > 0 && !text.empty(); --n) {
      const size_t at = Below(random_, text.size());
      switch (Below(random_, 4)) {
        case 0:
          text[at] = static_cast<char>(random_());
          break;
        case 1:
          text.erase(at, 1 + Below(random_, 4));
          break;
        case 2:
          text.insert(at, 1, static_cast<char>(random_()));
          break;
        default:
          text.insert(at, text.substr(Below(random_, text.size()), 8));
      }
    }
    return text;
  }

  Random random_{FromEnvironment("CQBENCH_FUZZ_SEED", 1)};
};

}  // namespace cqbench::transcoding
