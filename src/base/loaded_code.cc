#include "src/base/loaded_code.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "src/base/descriptor.h"

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

// Absent if the file could not be read.
std::optional<bool> Contains(const std::string& path, const std::string& bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!file.ok() || fstat(file.fd(), &about) != 0 || about.st_size == 0) return std::nullopt;
  const auto size = static_cast<size_t>(about.st_size);
  void* const content = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (content == MAP_FAILED) return std::nullopt;
  const bool found = memmem(content, size, bytes.data(), bytes.size()) != nullptr;
  munmap(content, size);
  return found;
}

}  // namespace

std::optional<bool> IsInLoadedCode(absl::string_view text) {
  const std::string with_end = std::string(text) + '\0';
  const std::set<std::string> files = CodeFiles();
  bool all_read = !files.empty();
  for (const std::string& path : files) {
    const std::optional<bool> found = Contains(path, with_end);
    if (found == true) return true;
    if (!found) all_read = false;
  }
  if (!all_read) return std::nullopt;
  return false;
}

bool IsLibraryLoaded(absl::string_view name) {
  const std::set<std::string> files = CodeFiles();
  return std::any_of(files.begin(), files.end(), [&](const std::string& path) {
    return absl::StartsWith(absl::string_view(path).substr(path.rfind('/') + 1), name);
  });
}

}  // namespace cqbench
