// Files for tests to read. Every test is a process of its own and runs beside others, so names alone would be shared.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cqbench {

// Where a file of that name is to be: in a folder of this process, which is removed when it exits. Aborts where
// no folder can be made.
inline std::string TemporaryPath(const std::string& name) {
  struct Folder {
    Folder() {
      if (mkdtemp(path.data()) == nullptr) std::abort();
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path = (std::filesystem::temp_directory_path() / "cqbench-test-XXXXXX").string();
  };
  static Folder folder;
  return folder.path + "/" + name;
}

}  // namespace cqbench
