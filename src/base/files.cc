#include "src/base/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace cqbench {

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char block[1 << 16];
  errno = 0;
  // A directory opens, and fails to be read.
  while (file.read(block, sizeof(block)) || file.gcount() > 0) {
    text.append(block, static_cast<size_t>(file.gcount()));
    if (text.size() > max_bytes) {
      return absl::InvalidArgumentError(absl::StrCat("'", path, "' is more than ", max_bytes >> 20, " MiB"));
    }
  }
  if (!file.eof()) {
    const char* const why = errno != 0 ? std::strerror(errno) : "not a file";
    return absl::InvalidArgumentError(absl::StrCat("cannot read '", path, "': ", why));
  }
  return text;
}

absl::StatusOr<std::string> TextOrFile(const std::string& argument, size_t max_bytes) {
  if (!argument.empty() && argument.front() == '@') return ReadFile(argument.substr(1), max_bytes);
  if (argument.size() <= max_bytes) return argument;
  return absl::InvalidArgumentError(absl::StrCat("is more than ", max_bytes >> 20, " MiB"));
}

}  // namespace cqbench
