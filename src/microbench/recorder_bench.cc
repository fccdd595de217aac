// The recorder's share of an RPC: reading the clock, recording a success, merging workers.

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "cqbench/clock.h"
#include "cqbench/recorder.h"

namespace cqbench {
namespace {

// Latencies around 100 µs with a tail, the same for every run.
std::vector<Nanos> Latencies() {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> distribution(11.5, 0.4);
  std::vector<Nanos> values(4096);
  for (Nanos& value : values) value = static_cast<Nanos>(distribution(random));
  return values;
}

void BM_ReadClock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(NowNs());
}
BENCHMARK(BM_ReadClock);

void BM_RecordSuccess(benchmark::State& state) {
  const std::vector<Nanos> latencies = Latencies();
  RunWindow window;
  window.Set(0, INT64_MAX);
  Recorder recorder(&window);
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(recorder.Success(1000, 1000 + latencies[i]));
    i = (i + 1) % latencies.size();
  }
}
BENCHMARK(BM_RecordSuccess);

void BM_Percentile(benchmark::State& state) {
  Histogram histogram;
  for (Nanos value : Latencies()) histogram.Record(value);
  for (auto _ : state) benchmark::DoNotOptimize(histogram.ValueAtPercentile(99.9));
}
BENCHMARK(BM_Percentile);

void BM_Merge(benchmark::State& state) {
  Histogram total;
  Histogram worker;
  for (Nanos value : Latencies()) worker.Record(value);
  for (auto _ : state) total.Merge(worker);
}
BENCHMARK(BM_Merge);

}  // namespace
}  // namespace cqbench
