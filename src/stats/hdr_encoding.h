// A histogram as a text that HdrHistogram's libraries read, and back.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/stats/histogram.h"

namespace cqbench {

// HdrHistogram's encoding V2 (Gil Tene, EncodableHistogram and Histogram.encodeIntoByteBuffer in hdrhistogram.org's
// Java sources), deflated and in base64: "HISTFAAA...", as in its log files. Three significant digits, unit
// nanoseconds. The decoded histogram has the same buckets, so nothing is lost but the exact maximum. Empty for an empty
// histogram. Any thread, as long as nobody writes into it.
std::string EncodeHdr(const Histogram& histogram);

// Reads what EncodeHdr() wrote: same buckets with the same counts, so the same percentiles, but Max() and Mean() are
// those of the buckets' highest values (at most 0.1 % more). Text of any origin is safe: nothing is allocated on its
// word beyond what the largest histogram takes. INVALID_ARGUMENT with one line for text that is damaged, or whose
// buckets are not ours (another precision, unit, range or offset). Any thread.
absl::StatusOr<Histogram> DecodeHdr(absl::string_view text);

}  // namespace cqbench
