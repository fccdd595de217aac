// Payloads are the same bytes everywhere, and as hard to compress as declared.
#include "src/workload/messages/payload.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

namespace cqbench {
namespace {

constexpr size_t kMebibyte = 1 << 20;

std::string Payload(const PayloadContent& content, uint64_t seed, size_t size) {
  std::string payload;
  PayloadOf(content, seed).Fill(&payload, size);
  return payload;
}

uint32_t Checksum(const std::string& bytes) {
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

PayloadContent OfEntropy(double bits) {
  return {PayloadKind::kEntropy, static_cast<uint32_t>(10 * bits + 0.5)};
}

// Returns the entropy of a byte, in bits, by the frequency of each value.
double Entropy(const std::string& bytes) {
  std::array<double, 256> count{};
  for (const char byte : bytes) ++count[static_cast<unsigned char>(byte)];
  double bits = 0;
  for (const double n : count)
    bits -= n > 0 ? n / static_cast<double>(bytes.size()) * std::log2(n / static_cast<double>(bytes.size())) : 0;
  return bits;
}

// Returns the compressed size divided by the size, with deflate.
double Compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string into(size, '\0');
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(into.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                      bytes.size(), Z_BEST_COMPRESSION),
            Z_OK);
  return static_cast<double>(size) / static_cast<double>(bytes.size());
}

// Users compare results of different machines and releases, so these values must never change.
TEST(Payload, IsTheSameEverywhere) {
  EXPECT_EQ(Checksum(Payload(PayloadKind::kZero, 1, kMebibyte)), 0xa738ea1cu);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kText, 1, kMebibyte)), 0x1dbb6882u);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kText, 2, kMebibyte)), 0x57e03669u);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kRandom, 1, kMebibyte)), 0x44be3d20u);
  EXPECT_EQ(Checksum(Payload(PayloadKind::kRandom, 2, kMebibyte)), 0x63a08175u);
  EXPECT_EQ(Checksum(Payload(OfEntropy(4), 1, kMebibyte)), 0x395ee4b3u);
  EXPECT_EQ(Checksum(Payload(OfEntropy(2.5), 1, kMebibyte)), 0x602024a4u);
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

TEST(Payload, HasTheEntropyThatWasAskedFor) {
  for (uint32_t tenths = 0; tenths <= kMaxTenths; ++tenths) {
    const double bits = tenths / 10.0;
    EXPECT_NEAR(Entropy(Payload(OfEntropy(bits), 1, 64 << 10)), bits, 0.002) << bits;
    // A part has nearly the same entropy if it has room for all symbols.
    EXPECT_NEAR(Entropy(Payload(OfEntropy(bits), 1, 16 << 10)), bits, 0.03) << bits;
  }
}

// The data has no repetitions, so it compresses to about its entropy.
TEST(Payload, OfSoManyBitsCompressesToAboutAsMany) {
  for (const double bits : {1.0, 2.0, 4.0, 6.0, 7.0}) {
    const double compressed = 8 * Compressed(Payload(OfEntropy(bits), 1, 128 << 10));
    EXPECT_GT(compressed, bits) << bits;
    EXPECT_LT(compressed, 1.35 * bits) << bits;
  }
}

TEST(PayloadContent, IsParsedAsItIsWritten) {
  for (const char* text : {"zero", "text", "random", "entropy:0", "entropy:4.5", "entropy:8"}) {
    const auto content = ParsePayloadContent(text);
    ASSERT_TRUE(content.ok()) << content.status();
    EXPECT_EQ(ToString(*content), text);
  }
  EXPECT_EQ(ParsePayloadContent("entropy:4.0")->tenths, 40u);
  for (const char* text : {"", "Zero", "entropy", "entropy:", "entropy:-1", "entropy:8.1", "entropy:4.55", "entropy:x",
                           "entropy:nan", "random:1"}) {
    EXPECT_FALSE(ParsePayloadContent(text).ok()) << text;
  }
}

// Contents by a request's fields: an entropy above the maximum means the maximum, an unknown kind means zeros.
TEST(PayloadContent, OfARequestIsAlwaysOne) {
  EXPECT_EQ(ContentOf(1, 0), PayloadKind::kText);
  EXPECT_EQ(ContentOf(1, 7), PayloadKind::kText);
  EXPECT_EQ(ContentOf(3, 45), OfEntropy(4.5));
  EXPECT_EQ(ContentOf(3, UINT64_MAX), OfEntropy(8));
  EXPECT_EQ(ContentOf(4, 0), PayloadKind::kZero);
  EXPECT_EQ(ContentOf(-1, 0), PayloadKind::kZero);
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

// The reused message had a payload of another size, kind or seed.
TEST(Payload, FillReplacesWhatIsOfAnotherSizeKindOrSeed) {
  std::string payload;
  for (const auto& [kind, seed, size] : {std::tuple<PayloadContent, int, int>(PayloadKind::kZero, 1, 1000),
                                         {OfEntropy(0.2), 1, 1000},
                                         {OfEntropy(0.1), 1, 1000},
                                         {PayloadKind::kZero, 1, 1000},
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
