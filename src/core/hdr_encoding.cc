#include "cqbench/hdr_encoding.h"

#include <zlib.h>

#include <cstdint>
#include <stdexcept>

#include "absl/strings/escaping.h"

namespace cqbench {
namespace {

constexpr uint32_t kCookie = 0x1c849303 | 0x10;            // version 2, counts as variable-length integers
constexpr uint32_t kCompressedCookie = 0x1c849304 | 0x10;  // the same behind zlib

void AppendBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

// ZigZag, then seven bits a byte, the lowest first. Counts stay far below 2^55, where HdrHistogram's own variant (no
// more than nine bytes) begins to differ.
void AppendVarint(std::string& out, int64_t value) {
  uint64_t bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; bits >= 0x80; bits >>= 7) out.push_back(static_cast<char>(bits | 0x80));
  out.push_back(static_cast<char>(bits));
}

// The counts of all buckets up to the last that is used; a run of n empty ones is -n.
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
  if (status != Z_OK) throw std::runtime_error("zlib cannot compress a histogram");  // out of memory is all it can be
  out.resize(size);
  return out;
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
  AppendBigEndian(plain, static_cast<uint64_t>(Histogram::kMaxTrackableNs), 8);  // highest
  AppendBigEndian(plain, 0x3ff0000000000000, 8);                                 // conversion ratio, the double 1.0
  plain += counts;

  const std::string deflated = Deflated(plain);
  std::string encoded;
  AppendBigEndian(encoded, kCompressedCookie, 4);
  AppendBigEndian(encoded, deflated.size(), 4);
  return absl::Base64Escape(encoded + deflated);
}

}  // namespace cqbench
