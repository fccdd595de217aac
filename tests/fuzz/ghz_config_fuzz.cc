// Configuration files of ghz: each becomes cqbench's flags, or one line with the error.
#include <sys/mman.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "src/cli/client/ghz_config.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using cqbench::fuzz::Require;
  const int file = memfd_create("ghz", MFD_CLOEXEC);
  Require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size), "there is a file");
  const auto flags = cqbench::ReadGhzConfig(absl::StrCat("/proc/self/fd/", file), {"--inflight", "3"});
  close(file);
  if (flags.ok()) {
    for (const std::string& note : flags->notes) Require(note.find('\n') == note.npos, "a note is one line");
  } else {
    Require(flags.status().message().find('\n') == absl::string_view::npos, "an error is one line");
  }
  return 0;
}
