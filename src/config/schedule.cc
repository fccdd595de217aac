#include "cqbench/schedule.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "src/base/hash.h"

namespace cqbench {
namespace {

constexpr double kRatePerPacer = 30'000;

// Neither neighbouring seeds nor neighbouring pacers give streams that have to do with each other.
uint64_t StreamSeed(uint64_t seed, size_t pacer) {
  return SplitMix64(SplitMix64(seed)() ^ pacer)();
}

// Every gap is rounded by itself and whole nanoseconds are added up: a sum of floating-point gaps would come out
// differently where the compiler fuses multiplication and addition.
DueTimes PoissonStream(uint64_t seed, double mean_gap_ns, Nanos length_ns) {
  const double expected = static_cast<double>(length_ns) / mean_gap_ns;
  DueTimes times;
  times.reserve(static_cast<size_t>(expected + 5 * std::sqrt(expected) + 1));
  std::mt19937_64 random(seed);
  for (Nanos due = 0;;) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;  // in [0, 1)
    due += std::llround(-std::log1p(-u) * mean_gap_ns);
    if (due >= length_ns) return times;
    times.push_back(due);
  }
}

std::vector<DueTimes> ConstantStreams(double rate, Nanos length_ns, size_t pacers) {
  std::vector<DueTimes> streams(pacers);
  const double expected = rate * ToSeconds(length_ns);
  for (DueTimes& stream : streams) {
    stream.reserve(static_cast<size_t>(expected / static_cast<double>(pacers)) + 2);
  }
  for (size_t k = 0;; ++k) {
    const Nanos due = std::llround(static_cast<double>(k) * static_cast<double>(kNanosPerSecond) / rate);
    if (due >= length_ns) return streams;
    streams[k % pacers].push_back(due);
  }
}

// Timers of a thread may otherwise fire up to 50 us late, so that the kernel can serve several at once.
void AskForExactTimers() {
  prctl(PR_SET_TIMERSLACK, 1);
}

void SleepUntil(Nanos time) {
  const timespec until{static_cast<time_t>(time / kNanosPerSecond), static_cast<long>(time % kNanosPerSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// Leaves the core's other hardware thread more of it meanwhile.
void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` does nothing on most ARM cores
#endif
}

}  // namespace

absl::StatusOr<std::vector<DueTimes>> DrawSchedule(const ScheduleConfig& config, double rate, Nanos length_ns,
                                                   int pacers) {
  const double expected = rate * ToSeconds(length_ns);
  if (expected > kMaxScheduled) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%.10g calls a second for %.10g s would be %.0f calls; a schedule holds at most %.0f: lower the rate or the "
        "interval",
        rate, ToSeconds(length_ns), expected, kMaxScheduled));
  }
  const auto streams = static_cast<size_t>(pacers);
  if (config.arrivals == Arrivals::kConstant) return ConstantStreams(rate, length_ns, streams);
  const double mean_gap_ns = static_cast<double>(kNanosPerSecond) / rate * static_cast<double>(pacers);
  std::vector<DueTimes> schedule;
  for (size_t i = 0; i < streams; ++i) {
    schedule.push_back(PoissonStream(StreamSeed(config.seed, i), mean_gap_ns, length_ns));
  }
  return schedule;
}

uint64_t HashSchedule(const std::vector<DueTimes>& schedule) {
  using Next = std::pair<Nanos, size_t>;  // the next time of a stream, and the stream
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  std::vector<size_t> taken(schedule.size(), 0);
  const auto take = [&](size_t stream) {
    if (taken[stream] < schedule[stream].size()) next.emplace(schedule[stream][taken[stream]++], stream);
  };
  for (size_t i = 0; i < schedule.size(); ++i) take(i);
  Fnv1a hash;
  while (!next.empty()) {
    const auto [time, stream] = next.top();
    next.pop();
    hash.AddBytes(static_cast<uint64_t>(time));
    take(stream);
  }
  return hash.hash();
}

int PacersFor(double rate) {
  return std::max(1, static_cast<int>(std::ceil(rate / kRatePerPacer)));
}

PacerClock::PacerClock(Pace pace, Nanos margin_ns) : pace_(pace), margin_ns_(margin_ns) {
  AskForExactTimers();
}

Nanos PacerClock::WaitUntil(Nanos due) const {
  Nanos now = NowNs();
  const Nanos asleep_until = pace_ == Pace::kHybrid ? due - margin_ns_ : due;
  if (pace_ != Pace::kSpin && now < asleep_until) {
    SleepUntil(asleep_until);
    now = NowNs();
  }
  while (now < due) {
    Pause();
    now = NowNs();
  }
  return now;
}

Nanos CalibrateMargin(double rate, int sleeps) {
  AskForExactTimers();
  std::vector<Nanos> overshoots;
  for (int i = 0; i < sleeps; ++i) {
    const Nanos until = NowNs() + 100 * kNanosPerMicro;
    SleepUntil(until);
    overshoots.push_back(NowNs() - until);
  }
  const auto p90 = overshoots.begin() + (sleeps * 9 + 9) / 10 - 1;
  std::nth_element(overshoots.begin(), p90, overshoots.end());
  const double quarter_gap = static_cast<double>(kNanosPerSecond) / rate / 4;
  return std::clamp<Nanos>(*p90, 0, quarter_gap < kMaxMargin ? static_cast<Nanos>(quarter_gap) : kMaxMargin);
}

}  // namespace cqbench
