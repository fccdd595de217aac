// The part of a request's text that a message shows. An error's message may become a header (grpc-message), whose size
// peers limit, so it never repeats a whole value.
#pragma once

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

inline std::string Shown(absl::string_view text) {
  constexpr size_t kBytes = 64;
  return absl::StrCat(absl::CHexEscape(text.substr(0, kBytes)), text.size() > kBytes ? "..." : "");
}

}  // namespace cqbench::transcoding
