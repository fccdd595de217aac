// The recorder's share of an RPC: reading the clock, recording a success, merging threads.

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

// A second of calls, one after the other, that begins again and again: due times go through all slices.
void RecordSuccess(benchmark::State& state, const RunWindow& window, bool open_loop) {
  const std::vector<Nanos> latencies = Latencies();
  Recorder recorder(&window, open_loop);
  size_t i = 0;
  Nanos due = 0;
  for (auto _ : state) {
    recorder.Sent(due);
    benchmark::DoNotOptimize(recorder.Success({due, due + 1000, due + 1000 + latencies[i]}));
    i = (i + 1) % latencies.size();
    due = due < kNanosPerSecond ? due + 100 * kNanosPerMicro : 0;
  }
}

void BM_RecordSuccess(benchmark::State& state) {
  RunWindow window;
  window.Set(0, INT64_MAX);
  RecordSuccess(state, window, /*open_loop=*/false);
}
BENCHMARK(BM_RecordSuccess);

void BM_RecordSuccessWithTimeSeries(benchmark::State& state) {
  RunWindow window(/*slices=*/10, 100 * kNanosPerMilli);
  window.Set(0, INT64_MAX);
  RecordSuccess(state, window, /*open_loop=*/false);
}
BENCHMARK(BM_RecordSuccessWithTimeSeries);

void BM_RecordSuccessInOpenLoop(benchmark::State& state) {
  RunWindow window(/*slices=*/10, 100 * kNanosPerMilli);
  window.Set(0, INT64_MAX);
  RecordSuccess(state, window, /*open_loop=*/true);
}
BENCHMARK(BM_RecordSuccessInOpenLoop);

void BM_Percentile(benchmark::State& state) {
  Histogram histogram;
  for (Nanos value : Latencies()) histogram.Record(value);
  for (auto _ : state) benchmark::DoNotOptimize(histogram.ValueAtPercentile(99.9));
}
BENCHMARK(BM_Percentile);

void BM_Merge(benchmark::State& state) {
  Histogram total;
  Histogram thread;
  for (Nanos value : Latencies()) thread.Record(value);
  for (auto _ : state) total.Merge(thread);
}
BENCHMARK(BM_Merge);

}  // namespace
}  // namespace cqbench
