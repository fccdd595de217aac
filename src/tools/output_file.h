// The file of --output: known to be writable before the run, whole or not there after it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cqbench {

// Writes beside the file and renames at the end, so that an interrupted run neither loses an old result nor leaves half
// of a new one. What is not a regular file (/dev/stdout, a pipe) is written directly.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // Before the run. The message names the path and the reason.
  absl::Status Open(const std::string& path);
  absl::Status Commit(absl::string_view text);

 private:
  std::string path_;
  std::string written_to_;
  int fd_ = -1;
};

}  // namespace cqbench
