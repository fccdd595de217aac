// Writes the files that are made from the catalogue of figures, or checks that they are up to date.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/schema/figure_files.h"

namespace cqbench {
namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int Run(const std::filesystem::path& source, bool write) {
  const auto schema = ResultSchema(Read(source / "src/report/result.schema.in.json"));
  if (!schema.ok()) {
    std::fprintf(stderr, "cqbench_schema: result.schema.in.json: %s\n", std::string(schema.status().message()).c_str());
    return 1;
  }
  const std::vector<std::pair<const char*, std::string>> files = {
      {"docs/reference/figures.md", FiguresPage()},
      {"scripts/cqbench/formats/figures.json", FiguresJson()},
      {"scripts/cqbench/formats/result.schema.json", *schema},
  };
  int status = 0;
  for (const auto& [name, text] : files) {
    if (write) {
      std::filesystem::create_directories((source / name).parent_path());
      if (std::ofstream(source / name, std::ios::binary) << text) continue;
      std::fprintf(stderr, "cqbench_schema: cannot write %s\n", name);
      status = 1;
    } else if (Read(source / name) != text) {
      std::fprintf(stderr, "cqbench_schema: %s is out of date: cqbench_schema --write writes it\n", name);
      status = 1;
    }
  }
  return status;
}

}  // namespace
}  // namespace cqbench

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[1] : "";
  if (mode == "--check" || mode == "--write") return cqbench::Run(argv[2], mode == "--write");
  std::fprintf(stderr, "usage: cqbench_schema --check|--write SOURCE_FOLDER\n");
  return 2;
}
