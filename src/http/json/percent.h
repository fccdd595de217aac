// Text as it stands in a URL.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

enum class Slashes {
  kDecode,
  kKeepEncoded,  // "%2F" and "%2f" stay as they are
};

// The decoded text: `text` itself where nothing is to be decoded, otherwise a view of `buffer`, which is overwritten.
// False: a '%' without two hexadecimal digits behind it. '+' is no space: http.proto knows RFC 3986 only, not HTML's
// forms.
bool PercentDecode(absl::string_view text, Slashes slashes, std::string& buffer, absl::string_view& decoded);

}  // namespace cqbench::transcoding
