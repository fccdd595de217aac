// If a histogram can be decoded, it is encoded as the same text again. Random text is hardly ever valid base64 of
// deflated data, so most inputs are the data inside.
#include <zlib.h>

#include <bit>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/stats/hdr_encoding.h"
#include "tests/fuzz/fuzz.h"

namespace {

void Append(std::string& out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

// Puts the head of an encoded histogram before its counts.
std::string WithHead(absl::string_view counts) {
  std::string plain;
  Append(plain, 0x1c849313, 4);
  Append(plain, 40 + counts.size(), 4);
  Append(plain, 0, 4);
  Append(plain, 3, 4);
  Append(plain, 1, 8);
  Append(plain, static_cast<uint64_t>(cqbench::Histogram::kMaxTrackableNs), 8);
  Append(plain, std::bit_cast<uint64_t>(1.0), 8);
  absl::StrAppend(&plain, counts);
  return plain;
}

std::string Packed(const std::string& plain) {
  uLongf size = compressBound(plain.size());
  std::string deflated(size, '\0');
  compress2(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
            plain.size(), Z_BEST_SPEED);
  std::string out;
  Append(out, 0x1c849314, 4);
  Append(out, size, 4);
  return absl::Base64Escape(out.append(deflated, 0, size));
}

// The first byte decides which part of an encoded histogram the input is: the text, the deflated data, or the counts.
std::string Encoded(absl::string_view input) {
  if (input.empty() || input.front() == 'H') return std::string(input);
  if (input.front() == 'P') return Packed(std::string(input.substr(1)));
  return Packed(WithHead(input));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cqbench;
  const auto histogram = DecodeHdr(Encoded(fuzz::Text(data, size)));
  if (!histogram.ok()) return 0;
  const std::string written = EncodeHdr(*histogram);
  const auto again = DecodeHdr(written);
  fuzz::Require(histogram->Count() == 0 ? written.empty() : again.ok() && EncodeHdr(*again) == written,
                "a histogram reads back");
  fuzz::Require(histogram->ValueAtPercentile(50) <= histogram->Max(), "a median is at most the maximum");
  return 0;
}
