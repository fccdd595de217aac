#include "src/config/payload_content.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cqbench {
namespace {

constexpr absl::string_view kEntropy = "entropy:";
constexpr double kTenths = 10;  // of a bit

// False for what is no number of bits.
bool ParseTenths(absl::string_view text, uint32_t& tenths) {
  const size_t point = text.find('.');
  if (point != absl::string_view::npos && text.size() - point > 2) return false;
  double bits = 0;
  if (!absl::SimpleAtod(text, &bits) || !(bits >= 0 && kTenths * bits <= kMaxTenths)) return false;
  tenths = static_cast<uint32_t>(kTenths * bits + 0.5);
  return true;
}

}  // namespace

std::string ToString(const PayloadContent& content) {
  if (content.kind != PayloadKind::kEntropy) return std::string(ToString(content.kind));
  return absl::StrCat(kEntropy, content.tenths / kTenths);
}

absl::StatusOr<PayloadContent> ParsePayloadContent(absl::string_view text) {
  const auto kind = FromString<PayloadKind>(text);
  if (kind && *kind != PayloadKind::kEntropy) return *kind;
  PayloadContent content(PayloadKind::kEntropy);
  absl::string_view bits = text;
  if (absl::ConsumePrefix(&bits, kEntropy) && ParseTenths(bits, content.tenths)) return content;
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not one of zero, text, random, entropy:BITS with 0 to 8 bits of a byte, in tenths"));
}

}  // namespace cqbench
