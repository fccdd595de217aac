// How much memory large messages may keep while they wait to be used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace cqbench {

// What one idle message keeps, of what all of this process may keep together. One thread at a time.
//
// Small messages are not counted. Without a bound, every object that ever served a large call would keep its messages:
// 60 answers of 64 MiB left 6.2 GB behind (--api cq), sent by one client.
class KeptMemory {
 public:
  static constexpr size_t kSmall = size_t{64} << 10;
  static constexpr size_t kMax = size_t{256} << 20;  // of all messages together

  KeptMemory() = default;
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory() { Use(); }

  // The message is idle and has so many bytes, more than kSmall. False: it must give them back.
  bool Keep(size_t bytes) {
    if (total_.fetch_add(bytes, std::memory_order_relaxed) + bytes > kMax) {
      total_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    bytes_ = bytes;
    return true;
  }
  // The message is used again, or gone.
  void Use() {
    if (bytes_ > 0) [[unlikely]]
      total_.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
  }

 private:
  static inline std::atomic<size_t> total_{0};
  size_t bytes_ = 0;
};

}  // namespace cqbench
