// Makes std::thread fail as if the system had no more threads. For programs that link failing_threads.cc.
#pragma once

#include <atomic>
#include <functional>

namespace cqbench {

// How many more threads the program may make; below 0: any number. gRPC's own threads do not count.
extern std::atomic<int> threads_left;
// Called when no thread is left and another one is requested, before the request fails.
extern std::function<void()> before_failing;

}  // namespace cqbench
