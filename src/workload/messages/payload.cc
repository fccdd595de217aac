#include "src/workload/messages/payload.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "cqbench/proto/echo.pb.h"

namespace cqbench {
namespace {

constexpr size_t kBlock = 64 << 10;
constexpr size_t kTelling = 4 << 10;  // at a tenth of a bit one byte in eighty is another symbol

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

// In bits: `symbols` - 1 of that probability, and one of what is left.
double Entropy(int symbols, double probability) {
  const auto bits = [](double p) { return p > 0 ? -p * std::log2(p) : 0; };
  return (symbols - 1) * bits(probability) + bits(1 - (symbols - 1) * probability);
}

// Probability of each symbol but the last, so that all have that entropy. A smaller one leaves more for the last.
double ProbabilityOfEach(int symbols, double bits) {
  double low = 1.0 / symbols, high = symbols > 1 ? 1.0 / (symbols - 1) : 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (Entropy(symbols, middle) > bits ? low : high) = middle;
  }
  return low;
}

std::string EntropyBlock(uint32_t tenths, uint64_t seed) {
  const double bits = tenths / 10.0;
  const int symbols = static_cast<int>(std::ceil(std::exp2(bits) - 1e-9));
  const double each = symbols > 1 ? ProbabilityOfEach(symbols, bits) : 1;
  std::string block;
  for (int i = 0; i < symbols; ++i) {
    const double end = i + 1 < symbols ? std::round((i + 1) * each * kBlock) : kBlock;
    block.resize(static_cast<size_t>(end), static_cast<char>(i + 1));  // no zeros: they are another kind
  }
  std::mt19937_64 random(seed ^ (uint64_t{tenths} << 32));
  for (size_t left = kBlock; left > 1; --left) std::swap(block[left - 1], block[random() % left]);
  return block;
}

std::string Block(const PayloadContent& content, uint64_t seed) {
  switch (content.kind) {
    case PayloadKind::kZero:
      break;
    case PayloadKind::kText:
      return TextBlock(seed);
    case PayloadKind::kRandom:
      return RandomBlock(seed);
    case PayloadKind::kEntropy:
      return EntropyBlock(content.tenths, seed);
  }
  return std::string(kBlock, '\0');
}

}  // namespace

PayloadSource::PayloadSource(const PayloadContent& content, uint64_t seed)
    : block_(Block(content, seed)), telling_(content.kind == PayloadKind::kEntropy ? kTelling : PayloadEnds::kFirst) {}

bool PayloadSource::HasEnds(const PayloadEnds& ends) const {
  if (ends.size == 0) return true;
  const size_t first = std::min<uint64_t>(ends.size, PayloadEnds::kFirst);
  return block_.compare(0, first, ends.first.data(), first) == 0 && ends.last == block_[(ends.size - 1) % kBlock];
}

void PayloadSource::Copy(char* to, size_t size) const {
  for (size_t at = 0; at < size; at += kBlock) std::memcpy(to + at, block_.data(), std::min(kBlock, size - at));
}

void PayloadSource::Write(std::string* payload, size_t size) const {
  payload->resize(size);
  Copy(payload->data(), size);
}

PayloadContent ContentOf(int proto_kind, uint64_t tenths) {
  static_assert(static_cast<int>(PayloadKind::kText) == v1::TEXT &&
                static_cast<int>(PayloadKind::kRandom) == v1::RANDOM);
  static_assert(static_cast<int>(PayloadKind::kEntropy) == v1::ENTROPY);
  if (proto_kind == v1::ENTROPY) {
    return {PayloadKind::kEntropy, static_cast<uint32_t>(std::min<uint64_t>(tenths, kMaxTenths))};
  }
  return v1::Payload_IsValid(proto_kind) ? static_cast<PayloadKind>(proto_kind) : PayloadKind::kZero;
}

const PayloadSource& PayloadOf(PayloadContent content, uint64_t seed) {
  thread_local PayloadContent last_content;
  thread_local uint64_t last_seed = 0;
  thread_local const PayloadSource* last = nullptr;
  if (last != nullptr && content == last_content && seed == last_seed) [[likely]]
    return *last;
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<PayloadContent, uint64_t>, PayloadSource>;  // guarded by mutex
  const std::lock_guard lock(mutex);
  last = &all.try_emplace({content, seed}, content, seed).first->second;
  last_content = content;
  last_seed = seed;
  return *last;
}

}  // namespace cqbench
