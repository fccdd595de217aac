// Encodes a histogram as a text that HdrHistogram's libraries read, and decodes the text.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/stats/histogram.h"

namespace cqbench {

// Uses HdrHistogram's encoding V2 (Gil Tene, EncodableHistogram and Histogram.encodeIntoByteBuffer in
// hdrhistogram.org's Java sources), deflated and in base64: "HISTFAAA...", as in its log files. Three significant
// digits, unit nanoseconds. The decoded histogram has the same buckets, so only the exact maximum is lost. Returns an
// empty text for an empty histogram. Any thread, as long as no thread writes into the histogram.
std::string EncodeHdr(const Histogram& histogram);

// Reads what EncodeHdr() wrote. Buckets, counts and percentiles are the same; Max() and Mean() are those of the
// buckets' highest values (at most 0.1 % more). The text may come from an untrusted source: memory never exceeds that
// of the largest histogram. INVALID_ARGUMENT with one line if the text is damaged, or if its precision, unit, range or
// offset differ from ours. Any thread.
absl::StatusOr<Histogram> DecodeHdr(absl::string_view text);

}  // namespace cqbench
