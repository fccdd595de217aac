// The last line of a process that ends because of a fatal error.
#include "src/base/last_resort.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <climits>
#include <csignal>
#include <cstdlib>

#include "absl/base/config.h"

namespace cqbench {
namespace {

#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr bool kHasHandlersOfItsOwn = true;
#else
constexpr bool kHasHandlersOfItsOwn = false;
#endif

// Recursion deeper than any stack, which the compiler cannot turn into a loop.
int UseUpTheStack(int depth, volatile const char* above) {
  volatile char here[4096];
  here[0] = above != nullptr ? above[0] : 'x';
  return depth == 0 ? 0 : UseUpTheStack(depth - 1, here) + here[0];
}

void NoCores() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

TEST(LastResortDeathTest, AStackThatIsUsedUpLeavesALine) {
  if (kHasHandlersOfItsOwn) GTEST_SKIP() << "the sanitizer's handlers are used";
  EXPECT_EXIT(
      {
        NoCores();
        InstallLastResort("program");
        std::exit(UseUpTheStack(INT_MAX, nullptr));
      },
      testing::KilledBySignal(SIGSEGV), "^program: gRPC, or this program, failed \\(SIGSEGV\\): what was measured");
}

TEST(LastResortDeathTest, AStackThatIsTooSmallIsRefused) {
  EXPECT_EXIT(
      {
        rlimit small{};
        getrlimit(RLIMIT_STACK, &small);
        small.rlim_cur = 200 << 10;
        setrlimit(RLIMIT_STACK, &small);
        InstallLastResort("program");
        std::exit(0);
      },
      testing::ExitedWithCode(1),
      "^program: too little stack: 256 KiB are needed, the limit is 200 KiB \\(ulimit -s\\)\n$");
}

TEST(LastResortDeathTest, AnAbortThatIsKnownIsExplained) {
  if (kHasHandlersOfItsOwn) GTEST_SKIP() << "the sanitizer's handlers are used";
  EXPECT_EXIT(
      {
        NoCores();
        InstallLastResort("program");
        ExplainAbort("this does it");
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "\\(SIGABRT\\): what was measured before is kept; this does it\n$");
}

}  // namespace
}  // namespace cqbench
