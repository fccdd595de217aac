// A server of one thread that takes a known time per call is a queue whose answer is known: how long calls wait, and up
// to which rate an objective is met.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/smoke/measured.h"
#include "tests/smoke/queueing.h"

namespace cqbench::smoke {
namespace {

constexpr Nanos kServiceTime = kNanosPerMilli;
// Whose schedule of 4,000 calls at load 0.8 waits as long as theory's average.
constexpr uint64_t kSeed = 16;

// The server, and what is to be known of it.
class KnownQueue {
 public:
  // `mode`: burn, as the thread of a real handler would; or wait, which is the same queue but needs next to no CPU, so
  // that it is exact on a machine that has other things to do, too.
  explicit KnownQueue(const std::string& mode, const Flags& more = {})
      : server_(Flags{"--service-time", absl::StrCat(kServiceTime, "ns"), "--service-time-mode", mode} + more,
                OnServerCpus()) {}

  // Four in flight keep the thread busy all the time, so its throughput is one over what a call takes of it: the
  // millisecond and what gRPC does on that thread. One in flight never waits.
  void Calibrate() {
    const Flags shortly = {"--api", "cq", "--warmup", "200ms", "--interval", "1"};
    const Json busy = Take(ClosedLoop(4, shortly)), idle = Take(ClosedLoop(1, shortly));
    service_ns_ = std::llround(1e9 / busy.at("throughput_per_second").get<double>());
    unloaded_ns_ = idle.at("latency_mean_ns");
    std::printf("service %.1f us, latency without waiting %.1f us\n", static_cast<double>(service_ns_) / 1e3,
                unloaded_ns_ / 1e3);
  }
  // What is known of another server holds for this one, too.
  void KnowAs(const KnownQueue& other) {
    service_ns_ = other.service_ns_;
    unloaded_ns_ = other.unloaded_ns_;
  }
  Nanos service_ns() const { return service_ns_; }
  double unloaded_ns() const { return unloaded_ns_; }

  // The mean latency from due without service and network.
  double MeanWait(const Plan& plan) {
    const bool constant = plan.schedule.arrivals == Arrivals::kConstant;
    const Json point =
        Take(NoHurry() + Flags{"--rate", absl::StrCat(plan.rate), "--arrivals", constant ? "constant" : "poisson",
                               "--seed", absl::StrCat(plan.schedule.seed), "--warmup", FormatDuration(plan.warmup_ns),
                               "--interval", FormatDuration(plan.interval_ns)});
    EXPECT_EQ(point.at("calls_unsent"), 0);
    return point.at("latency_mean_ns").get<double>() - unloaded_ns_;
  }

  // The part find_rate of the result; its points are looked at like any other's.
  Json FindRate(const std::string& objective, const Plan& trial) {
    Process client(MeasuredCommand(
        server_, NoHurry() + Flags{"--find-rate", objective, "--seed", absl::StrCat(trial.schedule.seed), "--warmup",
                                   FormatDuration(trial.warmup_ns), "--interval", FormatDuration(trial.interval_ns)}));
    const ClientRun run = Finish(client, Seconds(600));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    for (const Json& point : run.Points()) {
      ExpectCountsAddUp(point);
      disturbed_ = disturbed_ || IsDisturbed(point);
    }
    const Json found = run.Parsed().at("find_rate");
    const auto show = [&](const char* key) { return found.contains(key) ? found.at(key).dump() : "?"; };
    std::printf("%s: %s/s [%s, %s], %zu trials in %.0f s\n", objective.c_str(), show("rate_per_second").c_str(),
                show("low").c_str(), show("high").c_str(), found.at("trials").size(), run.took.count());
    return found;
  }

  // Whether any run since the last time says that others took its CPUs.
  void NoteDisturbance() { disturbed_ = true; }
  bool WasDisturbed() { return std::exchange(disturbed_, false); }

 private:
  // Calls wait as long as they have to.
  static Flags NoHurry() { return {"--api", "cq", "--max-outstanding", "2000", "--deadline", "30"}; }
  Json Take(const Flags& flags) {
    const Json point = Measure(server_, flags);
    disturbed_ = disturbed_ || IsDisturbed(point);
    return point;
  }

  Server server_;
  Nanos service_ns_ = 0;
  double unloaded_ns_ = 0;
  bool disturbed_ = false;
};

// A queue and so many calls at that load, and a few to warm up. By their number and not by time: so the same seed is
// the same schedule, in units of the service time, however fast the machine.
Plan AtLoad(double load, int calls, const KnownQueue& queue, Arrivals arrivals = Arrivals::kPoisson) {
  Plan plan;
  plan.rate = std::round(load * 1e9 / static_cast<double>(queue.service_ns()));  // as the client is told
  plan.warmup_ns = std::llround(160e9 / plan.rate);
  plan.interval_ns = std::llround(calls * 1e9 / plan.rate);
  plan.schedule.arrivals = arrivals;
  plan.schedule.seed = kSeed;
  return plan;
}

// A wrong figure proves nothing by itself: others take the CPUs' time, which runs may say, or a hypervisor slows them,
// which nothing shows. A fault of ours is there every time.
void ExpectWithinThree(KnownQueue& queue, const std::function<bool()>& is_right) {
  bool disturbed = false;
  for (int attempt = 0; attempt < 3; ++attempt) {
    queue.Calibrate();
    if (is_right()) return;
    disturbed = queue.WasDisturbed() || disturbed;
  }
  if (disturbed) GTEST_SKIP() << "other processes take the CPUs' time";
  ADD_FAILURE() << "wrong three times in a row";
}

class MD1Test : public testing::TestWithParam<std::string> {};

// Pollaczek and Khinchine: the mean wait of M/D/1 is load x service / (2 (1 - load)), at 0.8 two service times.
TEST_P(MD1Test, PoissonArrivalsWaitTwoServiceTimesAtLoad80AndConstantOnesDoNot) {
  KnownQueue queue(GetParam());
  ExpectWithinThree(queue, [&] {
    const Plan poisson = AtLoad(0.8, 4000, queue), constant = AtLoad(0.8, 1000, queue, Arrivals::kConstant);
    const auto service = static_cast<double>(queue.service_ns());
    const double expected = MeanWait(poisson, queue.service_ns());
    EXPECT_NEAR(expected / service, 2, 0.04) << "the schedule is not as theory's average";
    EXPECT_EQ(MeanWait(constant, queue.service_ns()), 0);
    const double waited = queue.MeanWait(poisson), waited_constant = queue.MeanWait(constant);
    std::printf("mean wait %.0f us, of this schedule %.0f us; constant arrivals %.0f us\n", waited / 1e3,
                expected / 1e3, waited_constant / 1e3);
    return std::abs(waited / expected - 1) < 0.1 && std::abs(waited_constant / service) < 0.1;
  });
}

INSTANTIATE_TEST_SUITE_P(All, MD1Test, testing::Values("burn", "wait"), [](const auto& test) { return test.param; });

// M/M/1 (and what gRPC takes, which is constant). The mean wait of n calls has a variance of about
// load (2 + 5 load - 4 load^2 + load^3) / ((1 - load)^4 n) service times squared (Daley, The serial correlation
// coefficients of waiting times in a stationary single server queue, 1968): at 0.6 and 4,500 calls a standard
// deviation of 0.14, of a mean of 1.5. Here the due times are given, which leaves 0.11: that of the draws of the
// service times alone, found by drawing them 300 times. The tolerance is four of them, and 5 % because the service time
// was measured. At 0.8 it would be 0.6 of 4, too much to tell M/M/1 from M/D/1, whose wait is half as long.
TEST(MM1Test, ExponentialServiceWaitsTwiceAsLong) {
  KnownQueue constant("wait");
  KnownQueue exponential("wait", {"--service-time-distribution", "exponential"});
  // The constant one is quicker known: its overhead is the same.
  ExpectWithinThree(constant, [&] {
    const Plan plan = AtLoad(0.6, 4500, constant);
    const Expected expected = MeanWaitOfExponential(plan, constant.service_ns() - kServiceTime, kServiceTime);
    const double tolerance = 4 * expected.deviation + 0.05 * expected.mean;
    // On a machine so slow that a constant service time would pass, too, nothing is shown.
    if (MeanWait(plan, constant.service_ns()) >= expected.mean - tolerance) return false;
    exponential.KnowAs(constant);
    const double waited = exponential.MeanWait(plan);
    if (exponential.WasDisturbed()) constant.NoteDisturbance();
    std::printf("mean wait %.0f us, expected %.0f +- %.0f us\n", waited / 1e3, expected.mean / 1e3, tolerance / 1e3);
    return std::abs(waited - expected.mean) < tolerance;
  });
}

// --- the highest rate that meets an objective ---

struct Goal {
  double percentile = 90;
  Nanos below_ns = 0;
  std::string ToString() const { return absl::StrCat("p", percentile, "<", FormatDuration(below_ns)); }
};

// The rate at which a trial meets the goal as often as not. Trials are short, and the queue is empty when they begin,
// so the steady state says nothing about them: 400 schedules at each rate, waiting as Lindley says.
double KnownRate(const KnownQueue& queue, const Goal& goal, Plan trial) {
  const auto share = [&](double rate) {
    int met = 0;
    trial.rate = rate;
    for (uint64_t seed = 1; seed <= 400; ++seed) {
      trial.schedule.seed = 1'000'000 + seed;
      std::vector<Nanos> waits = Waits(trial, [&] { return queue.service_ns(); });
      const double latency = static_cast<double>(Percentile(waits, goal.percentile)) + queue.unloaded_ns();
      met += latency <= static_cast<double>(goal.below_ns) ? 1 : 0;
    }
    return met / 400.0;
  };
  const double capacity = 1e9 / static_cast<double>(queue.service_ns());
  double low = 0.3 * capacity, high = 1.2 * capacity;
  while (high > 1.001 * low) (share((low + high) / 2) > 0.5 ? low : high) = (low + high) / 2;
  return low;
}

// The interval is one of 95 %: of 100 simulated searches it covers the truth in 96, with 3 % more on either side in
// all. Another 2 % for the service time, which is measured.
TEST(FindRateTest, TheIntervalCoversTheKnownRate) {
  const Goal goal{90, 5 * kNanosPerMilli};
  const Plan trial{{}, 0, 100 * kNanosPerMilli, 400 * kNanosPerMilli};
  KnownQueue queue("wait");
  ExpectWithinThree(queue, [&] {
    const double truth = KnownRate(queue, goal, trial);
    const Json found = queue.FindRate(goal.ToString(), trial);
    std::printf("truth %.0f/s\n", truth);
    if (!found.at("resolved")) return false;
    const double low = found.at("low"), high = found.at("high");
    return low <= 1.05 * truth && high >= 0.95 * truth && high < 1.6 * low;
  });
}

// In full, some 12 minutes: at least 18 of 20 intervals cover the truth, and nothing is added to them.
TEST(FindRateTest, DISABLED_EighteenOfTwentyIntervalsCoverTheKnownRate) {
  const Goal goal{90, 5 * kNanosPerMilli};
  Plan trial{{}, 0, 100 * kNanosPerMilli, 600 * kNanosPerMilli};
  KnownQueue queue("burn");
  queue.Calibrate();
  const double truth = KnownRate(queue, goal, trial);
  std::printf("truth %.0f/s\n", truth);
  int covered = 0;
  for (int run = 0; run < 20; ++run) {
    trial.schedule.seed += 1000;  // every trial takes the next one
    const Json found = queue.FindRate(goal.ToString(), trial);
    covered += found.at("resolved") && found.at("low") <= truth && truth <= found.at("high") ? 1 : 0;
  }
  std::printf("%d of 20 intervals cover it%s\n", covered, queue.WasDisturbed() ? "; the machine was disturbed" : "");
  EXPECT_GE(covered, 18);
}

}  // namespace
}  // namespace cqbench::smoke
