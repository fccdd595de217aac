// How calls ended, where any thread may handle any call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cqbench/server.h"

namespace cqbench {

// Written by any thread. Relaxed counters, one add per message: a contended line would show in what
// is measured, so each thread hashes to one of several.
class SharedCounts {
 public:
  void Started() { Mine().started.fetch_add(1, std::memory_order_relaxed); }
  void Responded() { Mine().messages.fetch_add(1, std::memory_order_relaxed); }
  void Ended(bool ok) {
    Shard& shard = Mine();
    (ok ? shard.ok : shard.failed).fetch_add(1, std::memory_order_relaxed);
  }
  ServerCounts Read() const {
    ServerCounts total;
    for (const Shard& shard : shards_) {
      total.calls_started += shard.started.load(std::memory_order_relaxed);
      total.messages += shard.messages.load(std::memory_order_relaxed);
      total.calls_ok += shard.ok.load(std::memory_order_relaxed);
      total.calls_failed += shard.failed.load(std::memory_order_relaxed);
    }
    return total;
  }

 private:
  struct alignas(64) Shard {
    std::atomic<uint64_t> started{0}, messages{0}, ok{0}, failed{0};
  };
  Shard& Mine() {
    static std::atomic<size_t> next{0};
    thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
    return shards_[mine % shards_.size()];
  }
  std::array<Shard, 64> shards_;
};

}  // namespace cqbench
