// Payloads: the same bytes everywhere, and as hard to compress as they claim.
#include "src/method/payload.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace cqbench {
namespace {

constexpr size_t kMebibyte = 1 << 20;

std::string Payload(PayloadKind kind, uint64_t seed, size_t size) {
  std::string payload;
  PayloadOf(kind, seed).Fill(&payload, size);
  return payload;
}

uint32_t Checksum(const std::string& bytes) {
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// How many bytes deflate makes of one.
double Compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string into(size, '\0');
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(into.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                      bytes.size(), Z_BEST_COMPRESSION),
            Z_OK);
  return static_cast<double>(size) / static_cast<double>(bytes.size());
}

// Results of different machines and releases are compared: these must never change.
TEST(Payload, IsTheSameEverywhere) {
  EXPECT_EQ(Checksum(Payload(PayloadKind::kZero, 1, kMebibyte)), 0xa738ea1cu);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kText, 1, kMebibyte)), 0x1dbb6882u);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kText, 2, kMebibyte)), 0x57e03669u);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kRandom, 1, kMebibyte)), 0x44be3d20u);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kRandom, 2, kMebibyte)), 0x63a08175u);
}

TEST(Payload, RandomDoesNotCompress) {
  for (size_t size : {size_t{1000}, size_t{64} << 10, 4 * kMebibyte}) {
    EXPECT_GE(Compressed(Payload(PayloadKind::kRandom, 1, size)), 1.0) << size;
  }
}

TEST(Payload, TextCompressesAsTextDoes) {
  for (size_t size : {size_t{10'000}, size_t{64} << 10, 4 * kMebibyte}) {
    const std::string text = Payload(PayloadKind::kText, 1, size);
    EXPECT_GT(Compressed(text), 0.4) << size;
    EXPECT_LT(Compressed(text), 0.7) << size;
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || (c >= 'a' && c <= 'z'); }));
  }
}

TEST(Payload, ZeroIsZeroAndCompressesToNothing) {
  const std::string zero = Payload(PayloadKind::kZero, 1, kMebibyte);
  EXPECT_EQ(zero, std::string(kMebibyte, '\0'));
  EXPECT_LT(Compressed(zero), 0.01);
}

TEST(Payload, ShorterOnesAreTheBeginningOfLongerOnes) {
  for (PayloadKind kind : {PayloadKind::kZero, PayloadKind::kText, PayloadKind::kRandom}) {
    const std::string longest = Payload(kind, 3, 200'000);
    for (size_t size : {size_t{0}, size_t{1}, size_t{7}, size_t{65'535}, size_t{65'536}, size_t{65'537}}) {
      EXPECT_TRUE(Payload(kind, 3, size) == longest.substr(0, size)) << size;
      std::string copied(size, 'x');
      PayloadOf(kind, 3).Copy(copied.data(), size);
      EXPECT_TRUE(copied == longest.substr(0, size)) << size;
    }
  }
}

TEST(Payload, SeedsDiffer) {
  for (PayloadKind kind : {PayloadKind::kText, PayloadKind::kRandom}) {
    EXPECT_NE(Payload(kind, 1, 1000), Payload(kind, 2, 1000));
    EXPECT_EQ(Payload(kind, 1, 1000), Payload(kind, 1, 1000));
  }
}

// As a message that is used again: what was in it is of another size, kind or seed.
TEST(Payload, FillReplacesWhatIsOfAnotherSizeKindOrSeed) {
  std::string payload;
  for (const auto& [kind, seed, size] : {std::tuple(PayloadKind::kZero, 1, 1000),
                                         {PayloadKind::kText, 1, 1000},
                                         {PayloadKind::kText, 2, 1000},
                                         {PayloadKind::kRandom, 1, 1000},
                                         {PayloadKind::kRandom, 2, 1000},
                                         {PayloadKind::kZero, 1, 1000},
                                         {PayloadKind::kRandom, 1, 9},
                                         {PayloadKind::kRandom, 1, 100'000}}) {
    const auto of = static_cast<uint64_t>(seed);
    const auto bytes = static_cast<size_t>(size);
    PayloadOf(kind, of).Fill(&payload, bytes);
    EXPECT_TRUE(payload == Payload(kind, of, bytes)) << size;
  }
}

TEST(Payload, FillLeavesWhatIsThere) {
  std::string payload;
  PayloadOf(PayloadKind::kRandom, 1).Fill(&payload, 1000);
  const char* const where = payload.data();
  payload.back() = '!';
  PayloadOf(PayloadKind::kRandom, 1).Fill(&payload, 1000);
  EXPECT_EQ(payload.data(), where);
  EXPECT_EQ(payload.back(), '!') << "it was written again";
}

TEST(PayloadOf, IsOneSourcePerKindAndSeed) {
  const PayloadSource& first = PayloadOf(PayloadKind::kText, 5);
  EXPECT_NE(&PayloadOf(PayloadKind::kRandom, 5), &first);
  EXPECT_NE(&PayloadOf(PayloadKind::kText, 6), &first);
  EXPECT_EQ(&PayloadOf(PayloadKind::kText, 5), &first);
}

}  // namespace
}  // namespace cqbench
