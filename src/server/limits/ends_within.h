// Work that has a limit, whatever the library or the allocator still has to do.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

#include "src/base/clock.h"

namespace cqbench {

// Runs `work` on a thread of its own. True: it returned within the limit. False: it still runs, so what it refers to
// must stay. If no thread can be made, it runs on the calling one, without a limit.
inline bool EndsWithin(Nanos limit, const std::function<void()>& work) {
  auto task = std::make_shared<std::packaged_task<void()>>(work);
  const std::future<void> end = task->get_future();
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {
    work();
    return true;
  }
  return end.wait_for(std::chrono::nanoseconds(limit)) == std::future_status::ready;
}

}  // namespace cqbench
