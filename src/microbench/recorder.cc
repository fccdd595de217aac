// recorder/…, histogram/…: the client's own work for a call after the library has finished with the call.

#include "cqbench/recorder.h"

#include <random>
#include <vector>

#include "src/base/clock.h"
#include "src/load/pacing/cancel_gate.h"
#include "src/microbench/suite.h"
#include "src/stats/histogram.h"

namespace cqbench::microbench {
namespace {

// Returns latencies around 100 µs with a tail, the same in every run.
const std::vector<Nanos>& Latencies() {
  static const std::vector<Nanos> latencies = [] {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> distribution(11.5, 0.4);
    std::vector<Nanos> values(4096);
    for (Nanos& value : values) value = static_cast<Nanos>(distribution(random));
    return values;
  }();
  return latencies;
}

Histogram Filled() {
  Histogram histogram;
  for (const Nanos value : Latencies()) histogram.Record(value);
  return histogram;
}

void ReadClock(benchmark::State& state) {
  Measure(state, [] {
    Nanos now = NowNs();
    benchmark::DoNotOptimize(now);
  });
}

// Repeats a second of calls, one after the other, so that scheduled times pass through all time buckets.
void Success(benchmark::State& state, int time_buckets, bool open_loop) {
  RunWindow window(time_buckets, time_buckets > 0 ? kNanosPerSecond / time_buckets : 0);
  window.Set(0, INT64_MAX);
  Recorder recorder(&window, open_loop);
  size_t i = 0;
  Nanos due = 0;
  Measure(state, [&] {
    recorder.Sent(due);
    bool counted = recorder.Success({due, due + 1000, due + 1000 + Latencies()[i]});
    benchmark::DoNotOptimize(counted);
    i = (i + 1) % Latencies().size();
    due = due < kNanosPerSecond ? due + 100 * kNanosPerMicro : 0;
  });
}

void Failure(benchmark::State& state) {
  RunWindow window;
  window.Set(0, INT64_MAX);
  Recorder recorder(&window);
  Measure(state, [&] { recorder.Failure({1000, 1000, 2000}, /*UNAVAILABLE*/ 14, "connection refused"); });
}

void Merge(benchmark::State& state) {
  RunWindow window;
  window.Set(0, INT64_MAX);
  Recorder recorder(&window);
  for (const Nanos value : Latencies()) recorder.Success({0, 0, value});
  Measurement total;
  Measure(state, [&] { recorder.MergeInto(total); });
}

void RecordValue(benchmark::State& state) {
  Histogram histogram;
  size_t i = 0;
  Measure(state, [&] {
    histogram.Record(Latencies()[i]);
    i = (i + 1) % Latencies().size();
  });
}

void MergeHistogram(benchmark::State& state) {
  Histogram total;
  const Histogram thread = Filled();
  Measure(state, [&] { total.Merge(thread); });
}

void Percentile(benchmark::State& state) {
  const Histogram histogram = Filled();
  Measure(state, [&] {
    Nanos value = histogram.ValueAtPercentile(99.9);
    benchmark::DoNotOptimize(value);
  });
}

// The cost of the gate that lets another thread cancel a slot's call.
void Gate(benchmark::State& state) {
  CancelGate gate;
  grpc::ClientContext context;
  Measure(state, [&] {
    gate.Enter(&context);
    gate.Leave();
  });
}

}  // namespace

void RegisterRecorder() {
  Add("clock/read", ReadClock);
  Add("recorder/success/closed-loop", [](benchmark::State& state) { Success(state, 0, false); });
  Add("recorder/success/closed-loop/time-series", [](benchmark::State& state) { Success(state, 10, false); });
  Add("recorder/success/open-loop/time-series", [](benchmark::State& state) { Success(state, 10, true); });
  Add("recorder/failure", Failure);
  Add("recorder/merge", Merge);
  Add("histogram/record", RecordValue);
  Add("histogram/merge", MergeHistogram);
  Add("histogram/percentile", Percentile);
  Add("slot/cancel-gate", Gate);
}

}  // namespace cqbench::microbench
