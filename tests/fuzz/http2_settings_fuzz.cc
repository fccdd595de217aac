// A server's first frame: what is decided of the first bytes does not change with those that follow.
#include <optional>

#include "src/base/http2_settings.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cqbench;
  const absl::string_view bytes = fuzz::Text(data, size);
  const auto whole = ReadFirstSettings(bytes);
  if (whole.ok() && !*whole) fuzz::Require(size < kMaxFirstFrameBytes, "a whole first frame decides");
  if (!whole.ok()) {
    const absl::string_view why = whole.status().message();
    fuzz::Require(!why.empty() && why.find('\n') == absl::string_view::npos, "an error is one line");
  }
  if (whole.ok() && *whole) {
    const Http2Settings& settings = **whole;
    fuzz::Require(settings.initial_window_bytes.value_or(0) <= 0x7fffffff, "a window that may be");
    fuzz::Require(settings.max_frame_bytes.value_or(1 << 14) >= 1 << 14, "a frame that may be");
    fuzz::Require(settings.max_frame_bytes.value_or(1 << 14) < 1 << 24, "a frame that may be");
  }
  for (size_t n = 0; n < size && n < 256; ++n) {
    const auto part = ReadFirstSettings(bytes.substr(0, n));
    const bool waits = part.ok() && !*part;
    fuzz::Require(waits || (part.ok() == whole.ok() && (!part.ok() || *part == *whole)),
                  "bytes that follow change nothing");
  }
  return 0;
}
