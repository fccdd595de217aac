#include "cqbench/hdr_encoding.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "absl/strings/escaping.h"

namespace cqbench {
namespace {

// What is inside the base64 and behind the header, inflated, as hexadecimal digits.
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
  // The same values through hdrhistogram 0.10.8 for Python, HdrHistogram(1, 2 ** 37 - 1, 3).
  EXPECT_EQ(Payload(EncodeHdr(histogram)),
            std::string("1c84931300000016") + kHeader + "02c50104b31e0202c11302fb7ad8048bd40102ab3d02");
}

TEST(HdrEncoding, NoBucketBelowTheFirstIsLost) {
  Histogram histogram;
  histogram.Record(3);
  EXPECT_EQ(Payload(EncodeHdr(histogram)),
            std::string("1c84931300000002") + kHeader + "0502");  // three empty, then one
}

TEST(HdrEncoding, LooksLikeALogFile) {
  Histogram histogram;
  histogram.Record(3);
  EXPECT_EQ(EncodeHdr(histogram).substr(0, 8), "HISTFAAA");
}

TEST(HdrEncoding, OfNothingIsNothing) {
  EXPECT_EQ(EncodeHdr(Histogram()), "");
}

}  // namespace
}  // namespace cqbench
