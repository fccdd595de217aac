// Threads that all wait for one start.
#pragma once

#include <pthread.h>

#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace cqbench {

// Owned and called by one thread. The threads run `body(i)` after Release(), and must end by themselves then. Threads
// whose body has ended stay until Join(), so that their CPU time can still be read. The destructor joins.
class GatedThreads {
 public:
  // Throws std::system_error when a thread cannot be started; the ones before it have ended by then.
  GatedThreads(int count, std::string name, std::function<void(int)> body) : body_(std::move(body)) {
    threads_.reserve(static_cast<size_t>(count));
    try {
      for (int i = 0; i < count; ++i) {
        threads_.emplace_back([this, i] {
          start_.wait();
          if (!cancelled_) body_(i);
          end_.wait();
        });
        pthread_setname_np(threads_.back().native_handle(), (name + std::to_string(i)).substr(0, 15).c_str());
      }
    } catch (...) {
      Join();
      throw;
    }
  }
  GatedThreads(const GatedThreads&) = delete;
  GatedThreads& operator=(const GatedThreads&) = delete;
  ~GatedThreads() { Join(); }

  // Once.
  void Release() {
    released_ = true;
    start_.count_down();
  }
  // Threads that have not been released run nothing.
  void Join() {
    if (!released_) {
      cancelled_ = true;
      Release();
    }
    if (!ended_) end_.count_down();
    ended_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  int size() const { return static_cast<int>(threads_.size()); }

 private:
  const std::function<void(int)> body_;
  std::latch start_{1};
  std::latch end_{1};
  bool ended_ = false;
  bool released_ = false;
  bool cancelled_ = false;  // written before the latch opens
  std::vector<std::thread> threads_;
};

}  // namespace cqbench
