// Threads that all wait for one start.
#pragma once

#include <pthread.h>

#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace cqbench {

// Owned and called by one thread. The threads run `body(i)` after Release(); the destructor releases and joins, so
// `body` must end by itself or must not have been released into work. Threads whose body has ended stay until Join(),
// so that their CPU time can still be read.
class WorkerThreads {
 public:
  // Throws std::system_error when a thread cannot be started; the ones before it have ended by then.
  WorkerThreads(int count, std::string name, std::function<void(int)> body) : body_(std::move(body)) {
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
      cancelled_ = true;
      Release();
      Join();
      throw;
    }
  }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads() {
    if (!released_) {
      cancelled_ = true;
      Release();
    }
    Join();
  }

  void Release() {
    released_ = true;
    start_.count_down();
  }
  void Join() {
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
