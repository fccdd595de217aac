// Shared by the files of the suite: registering, measuring and failing a benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/run_config.h"
#include "src/microbench/heap.h"
#include "src/workload/methods/methods.h"

namespace cqbench::microbench {

// One for each file. Names are paths, from what is done to what it is done with.
void RegisterMessages();
void RegisterBuffers();
void RegisterOneThread();
void RegisterInProcess();
void RegisterQueue();
void RegisterRecorder();
void RegisterPacing();
void RegisterTranscoding();

// The name of the benchmark that runs.
inline std::string running;

// `run` takes a benchmark::State&. Returns what Google Benchmark does, for more settings.
template <typename Run>
auto* Add(const std::string& name, Run&& run) {
  return benchmark::RegisterBenchmark(name.c_str(), [name, run](benchmark::State& state) {
    running = name;
    run(state);
  });
}

// Measures `body`. Runs it once beforehand, so that what the first use makes (buffers, a table, a thread's own storage)
// is neither timed nor counted.
template <typename Body>
void Measure(benchmark::State& state, Body&& body) {
  body();
  const CountedPart counted(running);
  for (auto _ : state) body();
}

// The benchmark has no result, and the program's exit status will be 1.
void Fail(benchmark::State& state, const std::string& why);
bool AnyFailed();

// "0B", "1KiB", "4MiB": a whole number of the greatest unit that goes.
std::string SizeName(uint32_t bytes);

// A method's messages as they are measured. `suffix` is the end of a benchmark's name.
struct MessageCase {
  std::string suffix;
  MessageConfig config;
};
// Methods with a payload: with as much of it in both directions. Methods with contents to choose from: with each.
template <Method M>
std::vector<MessageCase> MessageCases() {
  if (!M::kHasPayload && !HasContent<M>()) return {{"", MessageConfig()}};
  std::vector<MessageCase> cases;
  if (HasContent<M>()) {
    for (const Content content : {Content::kEmpty, Content::kComplex}) {
      MessageConfig config;
      config.content = content;
      cases.push_back({absl::StrCat("/", ToString(content)), config});
    }
    return cases;
  }
  for (const uint32_t bytes : {0u, 1u << 10, 16u << 10}) {
    MessageConfig config;
    config.request_bytes = config.response_bytes = bytes;
    cases.push_back({absl::StrCat("/", SizeName(bytes)), config});
  }
  return cases;
}

}  // namespace cqbench::microbench
