// Shared by the files of the suite: registering, measuring and failing a benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/config/messages.h"
#include "src/microbench/heap.h"
#include "src/workload/methods/methods.h"

namespace cqbench::microbench {

// One function for each file. A name is a path: first the operation, then its parameters.
void RegisterMessages();
void RegisterBuffers();
void RegisterOneThread();
void RegisterInProcess();
void RegisterQueue();
void RegisterRecorder();
void RegisterPacing();
void RegisterTranscoding();

// The name of the benchmark that is running.
inline std::string running;

// `run` takes a benchmark::State&. Returns Google Benchmark's object, for more settings.
template <typename Run>
auto* Add(const std::string& name, Run&& run) {
  return benchmark::RegisterBenchmark(name.c_str(), [name, run](benchmark::State& state) {
    running = name;
    run(state);
  });
}

// Measures `body`. Runs it once beforehand, so that one-time costs (buffers, a table, thread-local storage) are neither
// timed nor counted.
template <typename Body>
void Measure(benchmark::State& state, Body&& body) {
  body();
  const CountedPart counted(running);
  for (auto _ : state) body();
}

// The benchmark has no result, and the program's exit status will be 1.
void Fail(benchmark::State& state, const std::string& why);
bool AnyFailed();

// Returns "0B", "1KiB", "4MiB": a whole number of the greatest unit that divides the size.
std::string SizeName(uint32_t bytes);

// Messages of a method to measure. `suffix` is the end of a benchmark's name.
struct MessageCase {
  std::string suffix;
  MessageConfig config;
};
// Returns a case for each size if the method has a payload (the same size in both directions), or for each choice of
// contents.
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
