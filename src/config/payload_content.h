// The requested contents of payloads; src/workload/messages/payload.h makes the bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/base/enum_names.h"

namespace cqbench {

enum class PayloadKind { kZero, kText, kRandom, kEntropy };
constexpr auto NamesOf(PayloadKind) {
  return std::to_array<EnumName<PayloadKind>>({{PayloadKind::kZero, "zero"},
                                               {PayloadKind::kText, "text"},
                                               {PayloadKind::kRandom, "random"},
                                               {PayloadKind::kEntropy, "entropy"}});
}
inline constexpr uint32_t kMaxTenths = 80;

struct PayloadContent {
  PayloadContent(PayloadKind of = PayloadKind::kZero, uint32_t of_byte = 0) : kind(of), tenths(of_byte) {}
  PayloadKind kind;
  uint32_t tenths;  // kEntropy: Shannon's of a byte, in tenths of a bit, up to kMaxTenths; otherwise 0
  friend auto operator<=>(const PayloadContent&, const PayloadContent&) = default;
};

// "zero", "entropy:4.5" (bits of a byte, in tenths).
std::string ToString(const PayloadContent& content);
absl::StatusOr<PayloadContent> ParsePayloadContent(absl::string_view text);

}  // namespace cqbench
