// Text that came from another process or machine, made fit for a terminal, a table, a page and a file.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cqbench {

// Of what a peer says is wrong: enough for a sentence or two.
inline constexpr size_t kMaxErrorBytes = 300;

// What a terminal or an editor would act on is replaced: control characters (of either set, line ends among them) by a
// blank; marks that turn the direction of writing, and bytes that are no UTF-8, by U+FFFD. What is longer than
// `max_bytes` ends in "..." within them. `max_bytes` is at least 8.
std::string CleanText(absl::string_view text, size_t max_bytes);

// For names, versions and addresses, in which there is no markup: '<' and '>' are replaced by '?', too.
std::string CleanName(absl::string_view text, size_t max_bytes);

// RFC 3629: no surrogates, nothing longer than necessary.
bool IsUtf8(absl::string_view text);

// Each byte that is not UTF-8 becomes U+FFFD.
std::string ValidUtf8(absl::string_view text);

}  // namespace cqbench
