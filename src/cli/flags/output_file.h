// The file of --output: known to be writable before the run, at every moment either the old one or a whole new one.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cqbench {

// Writes each text to a new file, syncs and then renames it. A killed run, or a machine that stops, neither loses an
// old result nor leaves half of a new one. If the path is not a regular file (/dev/stdout, a pipe), the text is written
// directly, and once.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // Before the run; leaves nothing behind. The message names the path and the reason, as do those below.
  absl::Status Open(const std::string& path);
  // Between points: the file has this text until the next one. Nothing happens to what is not a regular file. May be
  // called again after it has failed.
  absl::Status Replace(absl::string_view text);
  // At the end, once.
  absl::Status Commit(absl::string_view text);

 private:
  std::string path_;
  std::string beside_;  // where a new file is written before it is renamed
  int fd_ = -1;         // of what is not a regular file
};

}  // namespace cqbench
