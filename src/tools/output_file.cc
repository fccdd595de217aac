#include "src/tools/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

absl::Status CannotWrite(absl::string_view path) {
  return absl::UnavailableError(absl::StrCat("cannot write '", path, "': ", std::strerror(errno)));
}

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (written_to_ != path_) unlink(written_to_.c_str());
}

absl::Status OutputFile::Open(const std::string& path) {
  path_ = path;
  struct stat existing {};
  const bool special = stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode);
  written_to_ = special ? path : absl::StrCat(path, ".", getpid(), ".tmp");
  fd_ = open(written_to_.c_str(), O_WRONLY | O_CLOEXEC | (special ? 0 : O_CREAT | O_TRUNC), 0644);
  return fd_ >= 0 ? absl::OkStatus() : CannotWrite(path_);
}

absl::Status OutputFile::Commit(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return CannotWrite(path_);
    text.remove_prefix(static_cast<size_t>(n));
  }
  const int closed = close(fd_);
  fd_ = -1;
  if (closed == 0 && (written_to_ == path_ || rename(written_to_.c_str(), path_.c_str()) == 0)) return absl::OkStatus();
  const absl::Status why = CannotWrite(path_);
  if (written_to_ != path_) unlink(written_to_.c_str());
  return why;
}

}  // namespace cqbench
