// Suggestions for unknown flags.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cqbench {

// Returns the error of a command line with words that `app` does not know: one line, with the flag that the user
// probably meant.
std::string ExplainExtras(const std::vector<std::string>& extras, const CLI::App& app);

}  // namespace cqbench
