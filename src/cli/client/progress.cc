#include "src/cli/client/progress.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cqbench {
namespace {

constexpr char kClearLine[] = "\r\033[K";

}  // namespace

std::string DescribeProgress(const ProgressUpdate& u) {
  std::string text = absl::StrCat("[", u.point);
  if (u.points > 0) absl::StrAppend(&text, "/", u.points);
  absl::StrAppendFormat(&text, "] %s, %s %.1f/%.1f s", u.load.Label(), u.measuring ? "measuring" : "warming up",
                        ToSeconds(u.elapsed_ns), ToSeconds(u.length_ns));
  if (u.measuring) absl::StrAppendFormat(&text, ", %.0f req/s", u.rate_per_second);
  if (u.load.open()) absl::StrAppend(&text, ", ", u.sent, " sent, ", u.behind, " behind");
  if (u.failed > 0) absl::StrAppend(&text, ", ", u.failed, " failed");
  return text;
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  Clear();
}

void ProgressLine::Show(const ProgressUpdate& update) {
  if (!terminal_) return;
  std::fprintf(stderr, "%s%s", kClearLine, DescribeProgress(update).c_str());
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (terminal_) std::fputs(kClearLine, stderr);
}

}  // namespace cqbench
