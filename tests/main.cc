// main() of a test program whose source files are entries of ctest: --source=NAME runs the tests of NAME_test.cc, and
// fails if there are none.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kFlag = "--source=";

// Returns a filter with the names of all tests in that file, joined by colons.
std::string TestsOf(const std::string& file) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string filter;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string_view path = test.file();
      if (path.substr(path.rfind('/') + 1) != file) continue;
      if (!filter.empty()) filter += ':';
      filter.append(suite.name()).append(".").append(test.name());
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argument.substr(0, kFlag.size()) == kFlag) {
    const std::string file = std::string(argument.substr(kFlag.size())) + "_test.cc";
    const std::string filter = TestsOf(file);
    if (filter.empty()) {
      std::fprintf(stderr, "%s has no tests\n", file.c_str());
      return 1;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  return RUN_ALL_TESTS();
}
