// Which strings the code of this process has.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"

namespace cqbench {

// Returns true if a constant string of the program or of a loaded library is, or ends with, `text`; absent if it was
// not found but some files could not be read. Takes some 50 ms.
std::optional<bool> IsInLoadedCode(absl::string_view text);

}  // namespace cqbench
