// Which strings the code of this process has.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"

namespace cqbench {

// Whether a constant string of the program or of a library that it has loaded is, or ends with, `text`; absent when it
// was not found but not all of their files could be read. Takes some 50 ms.
std::optional<bool> IsInLoadedCode(absl::string_view text);

}  // namespace cqbench
