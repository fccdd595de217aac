// Hashes and a generator that give the same numbers on every machine and in every release.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cqbench {

// Increment of SplitMix64, and an odd factor that spreads neighbouring numbers: 2^64 divided by the golden ratio.
inline constexpr uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

// Finalizer of SplitMix64 (Steele, Lea and Flood, 2014). It maps no two numbers to the same one, and numbers that
// differ in any bit to numbers that differ in about half of theirs.
constexpr uint64_t MixBits(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// SplitMix64: eight bytes of state; neighbouring seeds give sequences that have nothing to do with each other.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(uint64_t seed) : state_(seed) {}
  constexpr uint64_t operator()() { return MixBits(state_ += kGoldenGamma); }

 private:
  uint64_t state_;
};

// FNV-1a (Fowler, Noll and Vo) in 64 bits.
class Fnv1a {
 public:
  constexpr void Add(uint8_t byte) { AddWhole(byte); }
  // The eight bytes of a number, the lowest first.
  constexpr void AddBytes(uint64_t number) {
    for (size_t i = 0; i < sizeof(number); ++i, number >>= 8) Add(static_cast<uint8_t>(number));
  }
  // The number in one step, as if it were a byte: faster, and no FNV-1a that others would compute.
  constexpr void AddWhole(uint64_t number) { hash_ = (hash_ ^ number) * 0x100000001b3; }
  constexpr uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace cqbench
