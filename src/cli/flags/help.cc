#include "src/cli/flags/help.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kIndent = 13;
constexpr size_t kDescriptions = 38;  // the column where they begin

std::vector<const CLI::Option*> Of(const CLI::App& app, const std::string& group) {
  return app.get_options([&](const CLI::Option* option) { return option->get_group() == group; });
}

}  // namespace

HelpFormatter::HelpFormatter(std::vector<std::string> first) : first_(std::move(first)) {}

std::string HelpFormatter::make_option(const CLI::Option* option, bool /*is_positional*/) const {
  std::string text = absl::StrCat("  ", option->get_name(false, true));
  if (option->get_type_size() != 0) {
    if (!option->get_type_name().empty()) absl::StrAppend(&text, " ", option->get_type_name());
    if (!option->get_default_str().empty()) absl::StrAppend(&text, " (", option->get_default_str(), ")");
  }
  const size_t indent = text.size() < kDescriptions ? kDescriptions - text.size() : kDescriptions;
  if (indent == kDescriptions) text += '\n';
  return absl::StrCat(text, std::string(indent, ' '), option->get_description(), "\n");
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = absl::StrCat(app->get_description(), "\nUsage: ", name, " [OPTIONS]\n");
  if (mode == CLI::AppFormatMode::All) {
    for (const std::string& group : app->get_groups())
      absl::StrAppend(&text, make_group(group, false, Of(*app, group)));
    return text;
  }
  std::vector<const CLI::Option*> first;
  for (const std::string& flag : first_) first.push_back(app->get_option(flag));
  return absl::StrCat(text, make_group("Flags to begin with", false, first),
                      "\nAll flags; --help-all describes them:\n", Names(*app));
}

// A paragraph for each group.
std::string HelpFormatter::Names(const CLI::App& app) const {
  std::string text;
  for (const std::string& group : app.get_groups()) {
    std::string line = absl::StrCat("  ", group, ":");
    line.resize(std::max(line.size(), kIndent), ' ');
    for (const CLI::Option* option : Of(app, group)) {
      const std::string name = option->get_name();
      if (line.size() + 1 + name.size() > kColumns) {
        absl::StrAppend(&text, line, "\n");
        line = std::string(kIndent, ' ');
      }
      absl::StrAppend(&line, " ", name);
    }
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

void SetUpHelp(CLI::App& app, std::function<std::string()> version, std::vector<std::string> first) {
  app.formatter(std::make_shared<HelpFormatter>(std::move(first)));
  BeginGroup(app, "General");
  app.set_help_flag("-h,--help", "Print the most important flags and exit.");
  app.set_help_all_flag("--help-all", "Print every flag and exit.");
  app.set_version_flag("--version", std::move(version),
                       "Print the versions of this program, gRPC (and how it was built) and protobuf and exit.");
}

void BeginGroup(CLI::App& app, const std::string& name) {
  app.option_defaults()->group(name);
}

}  // namespace cqbench
