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

namespace cqbench {
namespace {

constexpr double kRatePerPacer = 30'000;

// A generator whose output differs in every bit for neighbouring seeds (Steele, Lea and Flood, 2014).
uint64_t SplitMix64(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Neither neighbouring seeds nor neighbouring pacers give streams that have to do with each other.
uint64_t StreamSeed(uint64_t seed, size_t pacer) {
  const uint64_t mixed = SplitMix64(seed);
  uint64_t state = mixed ^ pacer;
  return SplitMix64(state);
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
  uint64_t hash = 0xcbf29ce484222325;
  while (!next.empty()) {
    const auto [time, stream] = next.top();
    next.pop();
    for (int shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ (static_cast<uint64_t>(time) >> shift & 0xff)) * 0x100000001b3;
    }
    take(stream);
  }
  return hash;
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

void GapMeter::Merge(const GapMeter& other) {
  gaps_ += other.gaps_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  pairs_ += other.pairs_;
  pair_sum_ += other.pair_sum_;
  products_ += other.products_;
}

std::optional<GapShape> GapMeter::Shape() const {
  if (gaps_ < kMinGaps || sum_ == 0) return std::nullopt;
  // Sums around the whole part of the mean are still exact integers; only what is left is small and may be rounded.
  const uint64_t whole = sum_ / gaps_;
  const double gaps = static_cast<double>(gaps_), pairs = static_cast<double>(pairs_);
  const double rest = static_cast<double>(sum_ % gaps_) / gaps;
  const absl::uint128 whole_squared = absl::uint128(whole) * whole;
  const absl::uint128 squares = squares_ - 2 * absl::uint128(whole) * sum_ + whole_squared * gaps_;
  const auto products =
      static_cast<absl::int128>(products_ - absl::uint128(whole) * pair_sum_ + whole_squared * pairs_);
  const auto pair_sum = static_cast<double>(static_cast<int64_t>(pair_sum_ - 2 * whole * pairs_));

  const double variance = std::max(0.0, static_cast<double>(squares) / gaps - rest * rest);
  GapShape shape;
  shape.variation = std::sqrt(variance) / (static_cast<double>(sum_) / gaps);
  if (variance >= 1) {  // below that it is the rounding to whole nanoseconds that correlates
    const double covariance = (static_cast<double>(products) - rest * pair_sum) / pairs + rest * rest;
    shape.correlation = covariance / variance;
  }
  return shape;
}

}  // namespace cqbench
