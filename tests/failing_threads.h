// Makes std::thread fail as if the system had no more threads. For programs that link failing_threads.cc.
#pragma once

#include <atomic>
#include <functional>

namespace cqbench {

// How many threads may still be made; below 0: any number. What gRPC makes for itself does not count.
extern std::atomic<int> threads_left;
// Called when the last one has been and another is asked for, before that fails.
extern std::function<void()> before_failing;

}  // namespace cqbench
