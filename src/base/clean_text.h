// Text that came from another process or machine, made fit for a terminal, a table, a page and a file.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cqbench {

// Maximum length of a peer's error message: a sentence or two.
inline constexpr size_t kMaxErrorBytes = 300;

// Replaces characters that a terminal or an editor would interpret: control characters, line ends included, by a blank;
// marks that turn the direction of writing, and bytes that are not UTF-8, by U+FFFD. Longer text is cut to `max_bytes`
// and ends in "...". `max_bytes` is at least 8.
std::string CleanText(absl::string_view text, size_t max_bytes);

// For names, versions and addresses, in which there is no markup: '<' and '>' are replaced by '?', too.
std::string CleanName(absl::string_view text, size_t max_bytes);

// RFC 3629: no surrogates, nothing longer than necessary.
bool IsUtf8(absl::string_view text);

// Each byte that is not UTF-8 becomes U+FFFD.
std::string ValidUtf8(absl::string_view text);

}  // namespace cqbench
