#include "src/config/http_call.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cqbench {

absl::StatusOr<HttpCall> ParseHttpCall(absl::string_view text) {
  constexpr size_t kMaxTarget = 8000;
  const size_t space = text.find(' ');
  HttpCall call;
  if (space != absl::string_view::npos) {
    call = {std::string(text.substr(0, space)), std::string(text.substr(space + 1)), "", ""};
  }
  const bool method = !call.method.empty() && call.method.size() <= 32 &&
                      std::all_of(call.method.begin(), call.method.end(),
                                  [](unsigned char c) { return absl::ascii_isupper(c) || c == '-'; });
  const bool target = absl::StartsWith(call.target, "/") && call.target.size() <= kMaxTarget &&
                      std::all_of(call.target.begin(), call.target.end(),
                                  [](unsigned char c) { return absl::ascii_isgraph(c) && c != '#'; });
  if (method && target) return call;
  return absl::InvalidArgumentError(
      absl::StrCat("'", text,
                   "' is not METHOD TARGET, as in 'GET /v1/books?page_size=2': the method in capitals, a "
                   "target that begins with / and has no spaces (percent-encode them)"));
}

}  // namespace cqbench
