// The last line of a process that ends because of a fatal error.
#include "src/base/last_resort.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

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

void NoCores() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
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
