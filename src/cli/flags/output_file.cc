#include "src/cli/flags/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/last_resort.h"

namespace cqbench {
namespace {

absl::Status CannotWrite(absl::string_view path) {
  return absl::UnavailableError(absl::StrCat("cannot write '", path, "': ", std::strerror(errno)));
}

int OpenNew(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_TRUNC, 0644);
}

bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// A new file with that text, on the disk.
bool WriteNew(const std::string& path, absl::string_view text) {
  const int fd = OpenNew(path);
  if (fd < 0) return false;
  // Without the sync, some file systems rename before they write, and a crash of the machine leaves an empty file.
  const bool written = WriteAll(fd, text) && fsync(fd) == 0;
  const int why = errno;
  const bool closed = close(fd) == 0;
  if (!written) errno = why;
  return written && closed;
}

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status OutputFile::Open(const std::string& path) {
  path_ = path;
  struct stat existing {};
  if (stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ >= 0 ? absl::OkStatus() : CannotWrite(path_);
  }
  beside_ = absl::StrCat(path, ".", getpid(), ".tmp");
  const int fd = OpenNew(beside_);
  if (fd < 0) return CannotWrite(path_);
  close(fd);
  unlink(beside_.c_str());  // a run that is killed before it has anything to say leaves no trace
  return absl::OkStatus();
}

absl::Status OutputFile::Replace(absl::string_view text) {
  if (beside_.empty()) return absl::OkStatus();
  RemoveAtLastResort(beside_);
  const bool replaced = WriteNew(beside_, text) && rename(beside_.c_str(), path_.c_str()) == 0;
  const absl::Status why = replaced ? absl::OkStatus() : CannotWrite(path_);
  if (!replaced) unlink(beside_.c_str());
  RemoveAtLastResort("");
  return why;
}

absl::Status OutputFile::Commit(absl::string_view text) {
  if (!beside_.empty()) return Replace(text);
  const bool written = WriteAll(fd_, text);
  const int why = errno;
  const bool closed = close(std::exchange(fd_, -1)) == 0;
  if (!written) errno = why;
  return written && closed ? absl::OkStatus() : CannotWrite(path_);
}

}  // namespace cqbench
