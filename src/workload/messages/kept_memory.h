// How much memory large messages may keep while they wait to be used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace cqbench {

// Memory that one reused message keeps, within a limit for all of this process. One thread at a
// time.
//
// Small messages are not counted. Without a bound, every object that ever served a large call would keep its messages:
// 60 responses of 64 MiB left 6.2 GB behind (--api cq), asked for by one client.
class KeptMemory {
 public:
  static constexpr size_t kSmall = size_t{64} << 10;
  static constexpr size_t kMax = size_t{256} << 20;  // of all messages together

  KeptMemory() = default;
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory() { Drop(); }

  // Call after a use in which the message had this number of bytes. Returns false if the message must free its memory
  // and call Drop(): the budget is used up, or the message keeps much more than it needs now.
  bool Keep(size_t bytes) {
    if (bytes <= kSmall && bytes_ == 0) [[likely]]
      return true;
    return bytes > bytes_ ? Take(bytes - bytes_) : bytes >= bytes_ / 4;
  }
  // It has given everything back.
  void Drop() {
    if (bytes_ > 0) [[unlikely]]
      total_.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
  }

 private:
  bool Take(size_t more) {
    if (total_.fetch_add(more, std::memory_order_relaxed) + more > kMax) {
      total_.fetch_sub(more, std::memory_order_relaxed);
      return false;
    }
    bytes_ += more;
    return true;
  }

  static inline std::atomic<size_t> total_{0};
  size_t bytes_ = 0;
};

}  // namespace cqbench
