// A histogram as a text that HdrHistogram's libraries read.
#pragma once

#include <string>

#include "cqbench/histogram.h"

namespace cqbench {

// HdrHistogram's encoding V2 (Gil Tene, EncodableHistogram and Histogram.encodeIntoByteBuffer in hdrhistogram.org's
// Java sources), deflated and in base64: "HISTFAAA...", as in its log files. Three significant digits, unit
// nanoseconds. The decoded histogram has the same buckets, so nothing is lost but the exact maximum. Empty for an empty
// histogram. Any thread, as long as nobody writes into it.
std::string EncodeHdr(const Histogram& histogram);

}  // namespace cqbench
