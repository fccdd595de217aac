// Command lines, an argument a line: each gives options, or one line with the error.
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "src/cli/client/client_flags.h"
#include "src/cli/server/server_flags.h"
#include "tests/fuzz/fuzz.h"

namespace {

using cqbench::fuzz::Require;

template <typename Options>
void Check(const cqbench::Parsed<Options>& parsed) {
  Require(parsed.options || parsed.exit_code == 0 || parsed.exit_code == cqbench::kExitUsage, "usage ends with 2");
  if (parsed.exit_code == 0) return;
  Require(!parsed.options && !parsed.text.empty(), "an error has a text");
  Require(parsed.text.find('\n') == parsed.text.size() - 1, "an error is one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 4096) return -1;
  const bool server = data[0] == 's';
  std::vector<std::string> lines = absl::StrSplit(cqbench::fuzz::Text(data, size), '\n');
  std::vector<const char*> arguments;
  for (const std::string& line : lines) arguments.push_back(line.c_str());
  const int count = static_cast<int>(arguments.size());
  if (server) {
    Check(cqbench::ParseServerFlags(count, arguments.data()));
  } else {
    Check(cqbench::ParseClientFlags(count, arguments.data()));
  }
  return 0;
}
