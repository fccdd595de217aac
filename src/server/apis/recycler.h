// Objects that are used again and again instead of being allocated per call.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/config/messages.h"

namespace cqbench {

// The objects of one kind that several threads share. Owns all of them until it is destroyed, but for idle ones beyond
// kMaxIdle, which go: one burst of calls would be remembered for good otherwise. Thread-safe.
template <typename T>
class CallDepot {
 public:
  static constexpr size_t kMaxIdle = 4096;

  // Objects are constructed from how the messages in them are to live.
  explicit CallDepot(MessageStrategy messages) : messages_(messages) {}

  // Takes up to `n` idle objects, making them when there are none. At least one.
  void TakeSome(size_t n, std::vector<T*>& into) {
    const std::lock_guard lock(mutex_);
    while (n-- > 0 && !idle_.empty()) {
      into.push_back(idle_.back());
      idle_.pop_back();
    }
    if (!into.empty()) return;
    auto made = std::make_unique<T>(messages_);
    into.push_back(made.get());
    all_.emplace(made.get(), std::move(made));
  }
  void PutSome(size_t n, std::vector<T*>& from) {
    const std::lock_guard lock(mutex_);
    for (; n > 0 && !from.empty(); --n) {
      idle_.size() < kMaxIdle ? idle_.push_back(from.back()) : static_cast<void>(all_.erase(from.back()));
      from.pop_back();
    }
  }

 private:
  const MessageStrategy messages_;
  std::mutex mutex_;
  std::unordered_map<T*, std::unique_ptr<T>> all_;  // guarded by mutex_
  std::vector<T*> idle_;                            // guarded by mutex_
};

// One thread's view of a depot: a small stock of its own, so that the depot's lock is taken once in kBatch calls at
// most (never with a single thread in the steady state). One thread.
template <typename T>
class CallStock {
 public:
  explicit CallStock(CallDepot<T>* depot) : depot_(depot) { stock_.reserve(2 * kBatch + 1); }

  T* Take() {
    if (stock_.empty()) depot_->TakeSome(kBatch, stock_);
    T* call = stock_.back();
    stock_.pop_back();
    return call;
  }
  void Put(T* call) {
    stock_.push_back(call);
    if (stock_.size() > 2 * kBatch) depot_->PutSome(kBatch, stock_);
  }
  // Gives back what it holds.
  void Empty() { depot_->PutSome(stock_.size(), stock_); }

 private:
  static constexpr size_t kBatch = 32;
  CallDepot<T>* const depot_;
  std::vector<T*> stock_;
};

// Objects that are taken by one thread and put back by another, whichever these are: each thread keeps a stock, so that
// hardly a call takes a lock. Thread-safe. What was taken must be back before it is destroyed.
template <typename T>
class SharedStock {
 public:
  explicit SharedStock(MessageStrategy messages) : depot_(std::make_shared<CallDepot<T>>(messages)) {}

  T* Take() { return Mine().Take(); }
  void Put(T* object) { Mine().Put(object); }

 private:
  // Keeps its depot alive, because threads outlive servers, and gives everything back when the thread ends.
  struct OfThread {
    explicit OfThread(std::shared_ptr<CallDepot<T>> of) : depot(std::move(of)), stock(depot.get()) {}
    ~OfThread() { stock.Empty(); }
    const std::shared_ptr<CallDepot<T>> depot;
    CallStock<T> stock;
  };
  // The calling thread keeps the stock that it used last.
  CallStock<T>& Mine() {
    thread_local std::unique_ptr<OfThread> mine;
    if (mine == nullptr || mine->depot != depot_) [[unlikely]]
      mine = std::make_unique<OfThread>(depot_);
    return mine->stock;
  }

  const std::shared_ptr<CallDepot<T>> depot_;
};

}  // namespace cqbench
