#include "src/stats/hdr_encoding.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

// Replaces abseil's function, whose signature differs between the two abseil versions.
std::string FromHex(absl::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// Returns the data inside the base64 and after the header, inflated, as hexadecimal digits.
std::string Payload(const std::string& encoded) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(encoded, &bytes));
  EXPECT_EQ(absl::BytesToHexString(bytes.substr(0, 4)), "1c849314");
  const std::string length = absl::BytesToHexString(bytes.substr(4, 4));
  EXPECT_EQ(std::stoul(length, nullptr, 16), bytes.size() - 8);
  std::string plain(1 << 20, '\0');
  uLongf size = plain.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(plain.data()), &size, reinterpret_cast<const Bytef*>(bytes.data() + 8),
                       bytes.size() - 8),
            Z_OK);
  return absl::BytesToHexString(plain.substr(0, size));
}

constexpr char kHeader[] =
    "0000000000000003"
    "0000000000000001"
    "0000001fffffffff"
    "3ff0000000000000";

TEST(HdrEncoding, IsWhatHdrHistogramWrites) {
  Histogram histogram;
  histogram.Record(0);
  histogram.Record(100, 2);
  histogram.Record(2047);
  histogram.Record(2048);
  histogram.Record(5000);
  histogram.Record(1'000'000, 300);
  histogram.Record(10'000'000'000);
  histogram.Record(Histogram::kMaxTrackableNs);
  // The expected text is that of hdrhistogram 0.10.8 for Python, HdrHistogram(1, 2 ** 37 - 1, 3).
  EXPECT_EQ(Payload(EncodeHdr(histogram)),
            std::string("1c84931300000016") + kHeader + "02c50104b31e0202c11302fb7ad8048bd40102ab3d02");
}

TEST(HdrEncoding, NoBucketBelowTheFirstIsLost) {
  Histogram histogram;
  histogram.Record(3);
  EXPECT_EQ(Payload(EncodeHdr(histogram)),
            std::string("1c84931300000002") + kHeader + "0502");  // three empty buckets, then one
}

TEST(HdrEncoding, LooksLikeALogFile) {
  Histogram histogram;
  histogram.Record(3);
  EXPECT_EQ(EncodeHdr(histogram).substr(0, 8), "HISTFAAA");
}

TEST(HdrEncoding, OfNothingIsNothing) {
  EXPECT_EQ(EncodeHdr(Histogram()), "");
}

// Encodes data, given as hexadecimal digits, as EncodeHdr() would.
std::string Deflated(const std::string& hex, uint32_t cookie = 0x1c849314, const std::string& behind = "") {
  const std::string plain = FromHex(hex);
  std::string deflated(compressBound(plain.size()), '\0');
  uLongf size = deflated.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                     plain.size()),
            Z_OK);
  deflated.resize(size);
  deflated += behind;
  return absl::Base64Escape(
      FromHex(absl::StrCat(absl::Hex(cookie, absl::kZeroPad8), absl::Hex(deflated.size(), absl::kZeroPad8))) +
      deflated);
}

std::string WithCounts(const std::string& counts_hex) {
  return Deflated(absl::StrCat("1c849313", absl::Hex(counts_hex.size() / 2, absl::kZeroPad8), kHeader, counts_hex));
}

std::string ErrorOf(const std::string& text) {
  const auto histogram = DecodeHdr(text);
  EXPECT_FALSE(histogram.ok());
  const std::string message(histogram.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos);
  return message;
}

using Buckets = std::vector<std::pair<size_t, uint64_t>>;
Buckets IndexedBuckets(const Histogram& histogram) {
  Buckets buckets;
  histogram.ForEachBucket([&](size_t index, uint64_t count) { buckets.emplace_back(index, count); });
  return buckets;
}

Histogram ManyValues(uint64_t seed) {
  std::mt19937_64 random(seed);
  Histogram histogram;
  for (int i = 0; i < 2000; ++i) {
    histogram.Record(static_cast<Nanos>(random() >> (27 + random() % 37)), 1 + random() % 1'000'000);
  }
  return histogram;
}

TEST(HdrDecoding, GivesBackEveryBucketAndPercentile) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Histogram histogram = ManyValues(seed);
    const auto decoded = DecodeHdr(EncodeHdr(histogram));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(IndexedBuckets(*decoded), IndexedBuckets(histogram));
    EXPECT_EQ(decoded->Count(), histogram.Count());
    for (double percent : {0.1, 50.0, 99.0}) {
      EXPECT_EQ(decoded->ValueAtPercentile(percent), histogram.ValueAtPercentile(percent));
    }
    EXPECT_GE(decoded->Max(), histogram.Max());
    EXPECT_LE(static_cast<double>(decoded->Max()), static_cast<double>(histogram.Max()) * 1.001);
    EXPECT_EQ(EncodeHdr(*decoded), EncodeHdr(histogram));
  }
}

TEST(HdrDecoding, GivesBackTheFirstAndTheLastBucket) {
  Histogram histogram;
  histogram.Record(0, 3);
  histogram.Record(Histogram::kMaxTrackableNs, 100'000'000);
  const auto decoded = DecodeHdr(EncodeHdr(histogram));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(IndexedBuckets(*decoded), (Buckets{{0, 3}, {Histogram::kBuckets - 1, 100'000'000}}));
  EXPECT_EQ(decoded->Max(), Histogram::kMaxTrackableNs);
}

TEST(HdrDecoding, AHistogramWithEveryBucketFits) {
  Histogram histogram;
  std::mt19937_64 random(1);  // deflate cannot compress these counts
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    histogram.Record(Histogram::HighestValueOf(i), 1 + random() % (uint64_t{1} << (i < 2048 ? 40 : 10)));
  }
  const auto decoded = DecodeHdr(EncodeHdr(histogram));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(IndexedBuckets(*decoded), IndexedBuckets(histogram));
}

TEST(HdrDecoding, OfNothingIsNothing) {
  const auto decoded = DecodeHdr(EncodeHdr(Histogram()));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->Count(), 0u);
}

// One empty bucket is -1 here and 0 in the Java library.
TEST(HdrDecoding, ReadsBothWaysToWriteAnEmptyBucket) {
  for (const char* counts : {"0102", "0002"}) {
    const auto decoded = DecodeHdr(WithCounts(counts));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(IndexedBuckets(*decoded), (Buckets{{1, 1}}));
  }
}

TEST(HdrDecoding, SaysWhatIsWrong) {
  const std::string good = std::string("1c84931300000001") + kHeader + "02";
  ASSERT_TRUE(DecodeHdr(Deflated(good)).ok());
  const auto header_with = [&](size_t at, const char* hex) {
    std::string changed = good;
    return Deflated(changed.replace(at, std::string(hex).size(), hex));
  };
  const std::string prefix = "not a histogram that can be read: ";
  const std::string buckets = prefix + "its buckets are not those of nanoseconds up to 2^37 with three digits";
  EXPECT_EQ(ErrorOf("!"), prefix + "it is not base64");
  EXPECT_EQ(ErrorOf("HIST"), prefix + "it is cut off");
  EXPECT_EQ(ErrorOf(std::string(1 << 20, 'A')), prefix + "it is too long");
  EXPECT_EQ(ErrorOf(Deflated(good, 0x1c849313)), prefix + "it is not of HdrHistogram's version 2, compressed");
  EXPECT_EQ(ErrorOf(Deflated(good, 0x1c849314, "more")), prefix + "its compressed part is broken, or too large");
  EXPECT_EQ(ErrorOf(header_with(0, "1c849312")), prefix + "it is not of HdrHistogram's version 2");
  EXPECT_EQ(ErrorOf(header_with(8, "00000002")), prefix + "its counts are cut off");
  EXPECT_EQ(ErrorOf(header_with(16, "00000001")), buckets);  // offset
  EXPECT_EQ(ErrorOf(header_with(24, "00000002")), buckets);  // digits
  EXPECT_EQ(ErrorOf(header_with(32, "0000000000000002")), buckets);
  EXPECT_EQ(ErrorOf(header_with(48, "0000003fffffffff")), buckets);
  EXPECT_EQ(ErrorOf(header_with(64, "7ff8000000000000")), buckets);
  EXPECT_EQ(ErrorOf(Deflated(good.substr(0, 78))), prefix + "its header is cut off");
  EXPECT_EQ(ErrorOf(Deflated("")), prefix + "its header is cut off");
  EXPECT_EQ(ErrorOf(WithCounts("80")), prefix + "a count is cut off, or too large");
  EXPECT_EQ(ErrorOf(WithCounts("ffffffffffffffffff01")), prefix + "a count is cut off, or too large");
  EXPECT_EQ(ErrorOf(WithCounts("ffffffffffffff7f")), prefix + "it has too many buckets");  // the longest run
  EXPECT_EQ(ErrorOf(WithCounts("ffbf0302"
                               "02")),
            prefix + "it has too many buckets");  // 28672 empty buckets and one more
  EXPECT_EQ(ErrorOf(WithCounts("fdbf03"
                               "feffffffffffff7f")),
            prefix + "its values add up to more than 64 bits hold");
}

TEST(HdrDecoding, WhatInflatesToMoreThanAHistogramIsRefused) {
  const std::string bomb = Deflated(std::string(4 << 20, '0'));
  ASSERT_LT(bomb.size(), 10'000u);
  EXPECT_EQ(ErrorOf(bomb), "not a histogram that can be read: its compressed part is broken, or too large");
}

TEST(HdrDecoding, NoPrefixOfATextIsAHistogram) {
  const std::string text = EncodeHdr(ManyValues(1));
  for (size_t length = 1; length < text.size(); length += 1 + length / 50) ErrorOf(text.substr(0, length));
}

TEST(HdrDecoding, MangledTextIsAnErrorOrAHistogram) {
  const std::string text = EncodeHdr(ManyValues(2));
  std::mt19937_64 random(3);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string mangled = text;
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      mangled[random() % mangled.size()] = static_cast<char>(random());
    }
    refused += DecodeHdr(mangled).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 1900);  // zlib has a checksum
}

// The damage is inside the checksum: for any bytes, the counts are those of the buckets.
TEST(HdrDecoding, MangledCountsAreAnErrorOrAHistogram) {
  const std::string plain = Payload(EncodeHdr(ManyValues(4)));
  std::mt19937_64 random(5);
  int read = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = FromHex(plain);
    for (int changes = 0; changes < 3; ++changes)
      bytes[40 + random() % (bytes.size() - 40)] = static_cast<char>(random());
    const auto histogram = DecodeHdr(Deflated(absl::BytesToHexString(bytes)));
    if (!histogram.ok()) continue;
    ++read;
    uint64_t count = 0;
    histogram->ForEachBucket([&](size_t, uint64_t times) { count += times; });
    ASSERT_EQ(count, histogram->Count());
  }
  EXPECT_GT(read, 100);
}

TEST(HdrDecoding, NoiseIsRefused) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 1000; ++i) {
    std::string noise(random() % 200 + 1, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    ErrorOf(absl::Base64Escape(noise));
    ErrorOf("HISTFAAA" + absl::Base64Escape(noise));
  }
}

}  // namespace
}  // namespace cqbench
