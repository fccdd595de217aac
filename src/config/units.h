// Quantities with units, as people type them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/base/clock.h"

namespace cqbench {

// A number of seconds ("10", "0.5") or a number with a unit ("500ms", "2m"). INVALID_ARGUMENT unless it is at least
// `min_ns` and at most a day.
absl::StatusOr<Nanos> ParseDuration(absl::string_view text, Nanos min_ns = 1);
// A number of bytes ("1000") or a whole number with a unit: B, kB, MB (thousands), KiB, MiB (1024ths). INVALID_ARGUMENT
// unless it is at most `max`.
absl::StatusOr<uint32_t> ParseBytes(absl::string_view text, uint32_t max);
// A rate of data: a number with bit/s, kbit/s, Mbit/s, Gbit/s (thousands) or MiB/s. In bits per second.
// INVALID_ARGUMENT unless it is above 0 and at most a terabit per second.
absl::StatusOr<double> ParseByteRate(absl::string_view text);
// The shortest exact form: "500ms", "10s".
std::string FormatDuration(Nanos ns);

}  // namespace cqbench
