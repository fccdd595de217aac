// Files for tests to read. Each test is a process, and several run at the same time, so file names alone would collide.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cqbench {

// Returns a path for that name in a folder of this process, which is removed at exit. Aborts if it cannot make a
// folder.
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
