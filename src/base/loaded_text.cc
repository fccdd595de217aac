#include "src/base/loaded_text.h"

#include <fstream>
#include <set>
#include <string>

namespace cqbench {
namespace {

// Returns the files of the program and of the libraries that it has loaded.
std::set<std::string> CodeFiles() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path != line.npos && line.find(" r-xp ") != line.npos) files.insert(line.substr(path));
  }
  return files;
}

std::optional<std::string> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  std::string content(static_cast<size_t>(file.tellg()), '\0');
  if (!file.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size()))) return std::nullopt;
  return content;
}

}  // namespace

std::optional<bool> IsInLoadedCode(absl::string_view text) {
  const std::string with_end = std::string(text) + '\0';
  const std::set<std::string> files = CodeFiles();
  bool all_read = !files.empty();
  for (const std::string& path : files) {
    const std::optional<std::string> content = Read(path);
    if (!content) {
      all_read = false;
    } else if (content->find(with_end) != std::string::npos) {
      return true;
    }
  }
  if (!all_read) return std::nullopt;
  return false;
}

}  // namespace cqbench
