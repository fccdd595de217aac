#include "tests/failing_threads.h"

#include <dlfcn.h>

#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace cqbench {

std::atomic<int> threads_left{-1};
std::function<void()> before_failing = [] {};

}  // namespace cqbench

// Every std::thread begins here, in the C++ library.
void std::thread::_M_start_thread(_State_ptr state, void (*depend)()) {
  if (cqbench::threads_left.load() == 0) {
    cqbench::before_failing();
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  if (cqbench::threads_left.load() > 0) --cqbench::threads_left;
  using Start = void (*)(std::thread*, _State_ptr, void (*)());
  static const auto real = reinterpret_cast<Start>(
      dlsym(RTLD_NEXT, "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"));
  real(this, std::move(state), depend);
}
