#include "src/base/loaded_code.h"

#include <gtest/gtest.h>

#include <string>

namespace cqbench {
namespace {

TEST(LoadedCode, ConstantsOfTheProgramAndOfItsLibraries) {
  static const char* const volatile kConstant = "cqbench.loaded_code_test.constant";
  EXPECT_EQ(IsInLoadedCode(kConstant), true);
  EXPECT_EQ(IsInLoadedCode("Cannot allocate memory"), true);  // the C library's
}

TEST(LoadedCode, TextOnTheHeapIsNotFound) {
  std::string text = "cqbench.loaded_code_test.";
  text += std::to_string(testing::UnitTest::GetInstance()->random_seed() + 7);
  EXPECT_EQ(IsInLoadedCode(text), false);
}

}  // namespace
}  // namespace cqbench
