// Command lines for the flag parsers, without a process.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "src/base/target.h"
#include "src/cli/flags/flags.h"

namespace cqbench {

using Arguments = std::vector<std::string>;

// Splits "--a 1 --b" as the shell would: at spaces, without quoting.
inline Arguments Split(const std::string& line) {
  Arguments words;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

inline std::vector<std::string> Texts(const std::vector<Target>& targets) {
  std::vector<std::string> texts;
  for (const Target& target : targets) texts.push_back(target.ToString());
  return texts;
}

template <typename Options>
Parsed<Options> ParseWith(const std::function<Parsed<Options>(int, const char* const*)>& parse,
                          const Arguments& arguments) {
  std::vector<const char*> argv = {"./program"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse(static_cast<int>(argv.size()), argv.data());
}
template <typename Options>
Parsed<Options> ParseWith(Parsed<Options> (*parse)(int, const char* const*), const Arguments& arguments) {
  return ParseWith(std::function<Parsed<Options>(int, const char* const*)>(parse), arguments);
}

// Expects that the arguments are refused: exit status 2 and one line that has all the words in it.
template <typename Options>
void ExpectUsageError(const Parsed<Options>& parsed, const Arguments& arguments, const Arguments& words) {
  SCOPED_TRACE(testing::PrintToString(arguments));
  EXPECT_FALSE(parsed.options.has_value());
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_EQ(std::count(parsed.text.begin(), parsed.text.end(), '\n'), 1) << parsed.text;
  EXPECT_THAT(parsed.text, testing::EndsWith("\n"));
  for (const std::string& word : words) EXPECT_THAT(parsed.text, testing::HasSubstr(word));
}

// Calls refused(arguments, words) for the flag with each of the values: the line must name both.
template <typename Refused>
void RefuseValues(const Refused& refused, const std::string& flag, const Arguments& values, const Arguments& further) {
  for (const std::string& value : values) {
    Arguments arguments = {flag, value};
    arguments.insert(arguments.end(), further.begin(), further.end());
    refused(arguments, {flag, value});
  }
}

}  // namespace cqbench
