#include "src/tools/progress.h"

#include <unistd.h>

#include <cstdio>

namespace cqbench {
namespace {

constexpr char kClearLine[] = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (terminal_) std::fputs(kClearLine, stderr);
}

void ProgressLine::Show(const ProgressUpdate& u) {
  if (!terminal_) return;
  std::fprintf(stderr, "%s[%d/%d] in-flight %d, %s %.1f/%.1f s", kClearLine, u.point, u.points, u.inflight,
               u.measuring ? "measuring" : "warming up", ToSeconds(u.elapsed_ns), ToSeconds(u.length_ns));
  if (u.measuring) std::fprintf(stderr, ", %.0f req/s", u.rate_per_second);
  std::fflush(stderr);
}

}  // namespace cqbench
