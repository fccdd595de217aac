#include "src/stats/hdr_encoding.h"

#include <zlib.h>

#include <bit>
#include <cstdint>
#include <stdexcept>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

constexpr uint32_t kCookie = 0x1c849303 | 0x10;            // version 2, counts as variable-length integers
constexpr uint32_t kCompressedCookie = 0x1c849304 | 0x10;  // the same, compressed by zlib

constexpr uint64_t kRatio = std::bit_cast<uint64_t>(1.0);
constexpr size_t kHeader = 40, kCompressedHeader = 8;
constexpr int kMaxCountBytes = 8;  // 56 bits with the sign: more than any run counts
constexpr size_t kMaxPlain = kHeader + kMaxCountBytes * Histogram::kBuckets;
// Base64 adds a third. Deflate makes data that it cannot compress longer by less than a hundredth.
constexpr size_t kMaxText = kMaxPlain * 3 / 2;

void AppendBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

// Writes ZigZag, then seven bits a byte, the lowest first. Counts stay far below 2^55, from which on HdrHistogram's
// variant (at most nine bytes) differs from this one.
void AppendVarint(std::string& out, int64_t value) {
  uint64_t bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; bits >= 0x80; bits >>= 7) out.push_back(static_cast<char>(bits | 0x80));
  out.push_back(static_cast<char>(bits));
}

// Encodes the counts of all buckets up to the last used one; -n stands for a run of n empty buckets.
std::string Counts(const Histogram& histogram) {
  std::string counts;
  size_t next = 0;
  histogram.ForEachBucket([&](size_t index, uint64_t count) {
    if (index > next) AppendVarint(counts, -static_cast<int64_t>(index - next));
    AppendVarint(counts, static_cast<int64_t>(count));
    next = index + 1;
  });
  return counts;
}

std::string Deflated(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                               data.size(), Z_BEST_COMPRESSION);
  if (status != Z_OK) throw std::runtime_error("zlib cannot compress a histogram");  // out of memory
  out.resize(size);
  return out;
}

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a histogram that can be read: ", what));
}

// Removes the first `count` bytes and returns their value. The caller has checked that the bytes exist.
uint64_t TakeBigEndian(absl::string_view& bytes, size_t count) {
  uint64_t value = 0;
  for (char byte : bytes.substr(0, count)) value = value << 8 | static_cast<unsigned char>(byte);
  bytes.remove_prefix(count);
  return value;
}

// The inverse of AppendVarint(); false if the number does not end or is too long.
bool TakeVarint(absl::string_view& bytes, int64_t& value) {
  uint64_t bits = 0;
  for (int i = 0; i < kMaxCountBytes && !bytes.empty(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    bits |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      value = static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
      return true;
    }
  }
  return false;
}

absl::StatusOr<std::string> Inflated(absl::string_view deflated) {
  std::string plain(kMaxPlain, '\0');
  uLongf size = plain.size();
  uLong used = deflated.size();
  const int status = uncompress2(reinterpret_cast<Bytef*>(plain.data()), &size,
                                 reinterpret_cast<const Bytef*>(deflated.data()), &used);
  if (status == Z_MEM_ERROR) throw std::runtime_error("no memory to inflate a histogram");
  if (status != Z_OK || used != deflated.size()) return Damaged("its compressed part is broken, or too large");
  plain.resize(size);
  return plain;
}

absl::Status CheckHeader(absl::string_view& plain) {
  if (plain.size() < kHeader) return Damaged("its header is cut off");
  if (TakeBigEndian(plain, 4) != kCookie) return Damaged("it is not of HdrHistogram's version 2");
  const uint64_t length = TakeBigEndian(plain, 4);
  const uint64_t offset = TakeBigEndian(plain, 4), digits = TakeBigEndian(plain, 4);
  const uint64_t lowest = TakeBigEndian(plain, 8), highest = TakeBigEndian(plain, 8), ratio = TakeBigEndian(plain, 8);
  if (length != plain.size()) return Damaged("its counts are cut off");
  if (offset != 0 || digits != 3 || lowest != 1 || highest != static_cast<uint64_t>(Histogram::kMaxTrackableNs) ||
      ratio != kRatio) {
    return Damaged("its buckets are not those of nanoseconds up to 2^37 with three digits");
  }
  return absl::OkStatus();
}

absl::StatusOr<Histogram> FromCounts(absl::string_view counts) {
  Histogram histogram;
  size_t next = 0;
  absl::uint128 sum = 0;
  while (!counts.empty()) {
    int64_t count = 0;
    if (!TakeVarint(counts, count)) return Damaged("a count is cut off, or too large");
    const uint64_t buckets = count < 0 ? static_cast<uint64_t>(-count) : 1;
    if (buckets > Histogram::kBuckets - next) return Damaged("it has too many buckets");
    if (count > 0) {
      const Nanos value = Histogram::HighestValueOf(next);
      sum += absl::uint128(static_cast<uint64_t>(count)) * static_cast<uint64_t>(value);
      if (sum > UINT64_MAX) return Damaged("its values add up to more than 64 bits hold");  // Histogram's sum, too
      histogram.Record(value, static_cast<uint64_t>(count));
    }
    next += buckets;
  }
  return histogram;
}

}  // namespace

std::string EncodeHdr(const Histogram& histogram) {
  if (histogram.Count() == 0) return "";
  const std::string counts = Counts(histogram);
  std::string plain;
  AppendBigEndian(plain, kCookie, 4);
  AppendBigEndian(plain, counts.size(), 4);
  AppendBigEndian(plain, 0, 4);                                                  // normalizing index offset
  AppendBigEndian(plain, 3, 4);                                                  // significant digits
  AppendBigEndian(plain, 1, 8);                                                  // lowest trackable value
  AppendBigEndian(plain, static_cast<uint64_t>(Histogram::kMaxTrackableNs), 8);  // highest trackable value
  AppendBigEndian(plain, kRatio, 8);                                             // conversion ratio
  plain += counts;

  const std::string deflated = Deflated(plain);
  std::string encoded;
  AppendBigEndian(encoded, kCompressedCookie, 4);
  AppendBigEndian(encoded, deflated.size(), 4);
  return absl::Base64Escape(encoded + deflated);
}

absl::StatusOr<Histogram> DecodeHdr(absl::string_view text) {
  if (text.empty()) return Histogram();
  if (text.size() > kMaxText) return Damaged("it is too long");
  std::string bytes;
  if (!absl::Base64Unescape(text, &bytes)) return Damaged("it is not base64");
  absl::string_view rest = bytes;
  if (rest.size() < kCompressedHeader) return Damaged("it is cut off");
  if (TakeBigEndian(rest, 4) != kCompressedCookie) return Damaged("it is not of HdrHistogram's version 2, compressed");
  if (TakeBigEndian(rest, 4) != rest.size()) return Damaged("its length is not the one it names");
  const absl::StatusOr<std::string> inflated = Inflated(rest);
  if (!inflated.ok()) return inflated.status();
  absl::string_view plain = *inflated;
  if (absl::Status status = CheckHeader(plain); !status.ok()) return status;
  return FromCounts(plain);
}

}  // namespace cqbench
