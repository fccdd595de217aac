// What to say of flags that there are not.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cqbench {

// What is wrong with a command line of which `app` could not use these words: one line, with the flag that was probably
// meant.
std::string ExplainExtras(const std::vector<std::string>& extras, const CLI::App& app);

}  // namespace cqbench
