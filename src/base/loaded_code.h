// The code of this process: the program's file and those of the libraries that it has loaded.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"

namespace cqbench {

// Returns true if a constant string of the program or of a loaded library is, or ends with, `text`; absent if it was
// not found but some files could not be read. Takes some 10 ms.
std::optional<bool> IsInLoadedCode(absl::string_view text);

// Returns true if the name of a loaded library's file begins with `name`, such as "libgrpc.so".
bool IsLibraryLoaded(absl::string_view name);

}  // namespace cqbench
