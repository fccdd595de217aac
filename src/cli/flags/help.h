// The help of both programs: --help shows the flags to begin with, --help-all describes every flag.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace cqbench {

// Each description is one line, and reads the same with every release of CLI11. The type name of an option says what
// CLI11 would add for every check, so its line has the name and the default alone.
class HelpFormatter : public CLI::Formatter {
 public:
  // `first`: the flags that --help describes; it lists the names of all others by group.
  explicit HelpFormatter(std::vector<std::string> first);
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  std::string Names(const CLI::App& app) const;

  const std::vector<std::string> first_;
};

// Adds --version, --help-all, and the formatter. Options that are added later belong to the group of the last
// BeginGroup().
void SetUpHelp(CLI::App& app, std::function<std::string()> version, std::vector<std::string> first);
void BeginGroup(CLI::App& app, const std::string& name);

}  // namespace cqbench
