// The main program of the suite: Google Benchmark's flags and output. Exit status: 0; 1 when a benchmark failed or none
// was run; 2 for a wrong flag.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "src/cli/flags/flags.h"
#include "src/microbench/suite.h"
#include "src/observe/allocations/allocations.h"
#include "src/observe/sampling/environment.h"

namespace cqbench::microbench {
namespace {

void RegisterAll() {
  RegisterMessages();
  RegisterBuffers();
  RegisterOneThread();
  RegisterInProcess();
  RegisterQueue();
  RegisterRecorder();
  RegisterPacing();
#if CQBENCH_HTTP
  RegisterTranscoding();
#endif
}

// Adds this program's build type: "library_build_type" is that of Google Benchmark's library.
void AddContext(int argc, char** argv) {
  const Environment environment = DescribeEnvironment(argc, argv);
  benchmark::AddCustomContext("build_type", environment.build_type);
  benchmark::AddCustomContext("compiler", environment.compiler);
  benchmark::AddCustomContext("grpc_version", GrpcVersion());
  benchmark::AddCustomContext("protobuf_version", ProtobufVersion());
  benchmark::AddCustomContext("allocations", CanCountAllocations()
                                                 ? "counted: see the JSON (--benchmark_format=json)"
                                                 : "not counted: built without CQBENCH_BUILD_ALLOCATION_COUNTING");
}

// Returns the value of one of Google Benchmark's flags from the command line or the environment; empty if not given.
std::string FlagOf(const std::string& name, int argc, char** argv) {
  const std::string flag = "--" + name + "=";
  std::string value;
  if (const char* set = std::getenv(absl::AsciiStrToUpper(name).c_str())) value = set;
  for (int i = 1; i < argc; ++i) {
    if (absl::StartsWith(argv[i], flag)) value = argv[i] + flag.size();
  }
  return value;
}

// Returns the reporter for the file of --benchmark_out; nullptr without a file, or if its format has no allocations.
std::unique_ptr<benchmark::BenchmarkReporter> FileReporter(int argc, char** argv) {
  const std::string format = FlagOf("benchmark_out_format", argc, argv);
  if (FlagOf("benchmark_out", argc, argv).empty() || !(format.empty() || format == "json")) return nullptr;
  return std::make_unique<benchmark::JSONReporter>();
}

size_t RunWithHeapUse(benchmark::BenchmarkReporter* file) {
  HeapUse heap;
  WithHeapUse display(*benchmark::CreateDefaultDisplayReporter(), heap);
  std::optional<WithHeapUse> file_too;
  if (file != nullptr) file_too.emplace(*file, heap);
  benchmark::RegisterMemoryManager(&heap);
  const size_t ran = benchmark::RunSpecifiedBenchmarks(&display, file_too ? &*file_too : nullptr);
  benchmark::RegisterMemoryManager(nullptr);
  return ran;
}

int Run(int argc, char** argv) {
  AddContext(argc, argv);
  const auto file = FileReporter(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  SetDeadlockDetection(false);  // as in the programs: see "The programs" in scripts/README.md
  RegisterAll();
  const size_t ran = CanCountAllocations() ? RunWithHeapUse(file.get()) : benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return ran == 0 || AnyFailed() ? 1 : 0;
}

}  // namespace
}  // namespace cqbench::microbench

int main(int argc, char** argv) {
  return cqbench::microbench::Run(argc, argv);
}
