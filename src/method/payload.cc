#include "src/method/payload.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <random>

namespace cqbench {
namespace {

constexpr size_t kBlock = 64 << 10;

// mt19937_64 is the same everywhere; the standard's distributions are not.
std::string RandomBlock(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string block(kBlock, '\0');
  for (size_t i = 0; i < kBlock; i += sizeof(uint64_t)) {
    const uint64_t bits = random();
    std::memcpy(&block[i], &bits, sizeof(bits));
  }
  return block;
}

std::string TextBlock(uint64_t seed) {
  static constexpr char kLetters[] = "eeeeettttaaaooiinnsshhrrddlcum";  // about as often as in English
  std::mt19937_64 random(seed);
  std::string block;
  while (block.size() < kBlock) {
    for (uint64_t letters = 2 + random() % 7; letters > 0; --letters) {
      block.push_back(kLetters[random() % (sizeof(kLetters) - 1)]);
    }
    block.push_back(' ');
  }
  block.resize(kBlock);
  return block;
}

}  // namespace

PayloadSource::PayloadSource(PayloadKind kind, uint64_t seed)
    : block_(kind == PayloadKind::kRandom ? RandomBlock(seed)
             : kind == PayloadKind::kText ? TextBlock(seed)
                                          : std::string(kBlock, '\0')) {}

bool PayloadSource::HasEnds(const std::string& payload) const {
  return payload.empty() || (Begins(payload) && payload.back() == block_[(payload.size() - 1) % kBlock]);
}

void PayloadSource::Copy(char* to, size_t size) const {
  for (size_t at = 0; at < size; at += kBlock) std::memcpy(to + at, block_.data(), std::min(kBlock, size - at));
}

void PayloadSource::Write(std::string* payload, size_t size) const {
  payload->resize(size);
  Copy(payload->data(), size);
}

const PayloadSource& PayloadOf(PayloadKind kind, uint64_t seed) {
  thread_local PayloadKind last_kind{};
  thread_local uint64_t last_seed = 0;
  thread_local const PayloadSource* last = nullptr;
  if (last != nullptr && kind == last_kind && seed == last_seed) [[likely]]
    return *last;
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<PayloadKind, uint64_t>, PayloadSource>;  // guarded by mutex
  const std::lock_guard lock(mutex);
  last = &all.try_emplace({kind, seed}, kind, seed).first->second;
  last_kind = kind;
  last_seed = seed;
  return *last;
}

}  // namespace cqbench
