// Command lines of the client: accepted, or refused with status 2 and one line that names the flag and the value.
#pragma once

#include <string>

#include "src/cli/client/client_flags.h"
#include "tests/unit/command_line.h"

namespace cqbench {

inline Parsed<ClientOptions> ParseLine(const Arguments& arguments) {
  return ParseWith(
      +[](int argc, const char* const* argv) { return ParseClientFlags(argc, argv); }, arguments);
}

inline ClientOptions Options(const Arguments& arguments) {
  const auto parsed = ParseLine(arguments);
  EXPECT_EQ(parsed.exit_code, 0) << parsed.text;
  EXPECT_EQ(parsed.text, "");
  return parsed.options.value_or(ClientOptions());
}

inline ClientOptions Options(const std::string& line) {
  return Options(Split(line));
}

inline void Refused(const Arguments& arguments, const Arguments& words) {
  ExpectUsageError(ParseLine(arguments), arguments, words);
}

inline void RefusedValues(const std::string& flag, const Arguments& values, const Arguments& further = {}) {
  RefuseValues(Refused, flag, values, further);
}

}  // namespace cqbench
