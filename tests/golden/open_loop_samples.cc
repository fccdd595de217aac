// Open loops, calls that never ended, and searches for a rate.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/stats/hdr_encoding.h"
#include "tests/golden/sample_parts.h"
#include "tests/golden/samples.h"

namespace cqbench {
namespace {

constexpr char kWithheld[] = ": counted with their age; percentiles they could change are withheld";

RunContext OpenContext(AtLimit at_limit) {
  RunContext c = SampleContext();
  c.run.policy = {ChannelPolicy::Kind::kShared, 0};
  c.run.points = {{4, 1000}};
  c.run.schedule.arrivals = Arrivals::kPoisson;
  c.run.schedule.at_limit = at_limit;
  c.run.schedule.pace = Pace::kHybrid;
  c.run.schedule.seed = 7;
  return c;
}

OpenLoopResult Paced(const LatencyStats& from_sent, Nanos lateness_p99_ns) {
  OpenLoopResult o;
  o.from_sent = from_sent;
  o.from_sent_histogram = "HISTFAAAABB4nJNpmSzMwMAgAA==";
  o.lateness_p50_ns = 2'750;
  o.lateness_p99_ns = lateness_p99_ns;
  o.lateness_max_ns = lateness_p99_ns * 10;
  o.largest_burst = 3;
  o.pacers = 1;
  o.margin_ns = 57'300;
  o.schedule_hash = 0x0123456789abcdef;
  o.gap_cv = 1.0125;
  o.gap_correlation = -0.0078125;
  return o;
}

PointResult OpenPoint(double rate, uint64_t ok, const LatencyStats& from_due, OpenLoopResult open) {
  PointResult p = SamplePoint(4, ok, from_due);
  p.load = {4, rate};
  p.connections = p.expected_connections = p.channels = 1;
  p.threads = 3;
  p.channels_of_thread = {{0}, {0}, {}};
  p.open_loop = std::move(open);
  return p;
}

}  // namespace

Result OpenLoopSample() {
  Result result;
  result.context = OpenContext(AtLimit::kDrop);
  result.context.objective = "p99<2ms,errors<0.1%";
  PointResult kept = OpenPoint(1000, 10'012, SampleLatency(10'012, 104.5, 155.25, 401.0, 1200.5, 2034.5),
                               Paced(SampleLatency(10'012, 101.5, 150.25, 390.0, 1190.5, 2030.5), 31'000));
  kept.counts = {10'012, 10'012, 0, 0, 10'012, 0, 0};
  PointResult drops = OpenPoint(2000.5, 7'460, SampleLatency(7'461, 10'100, 10'200, 10'900, 11'000, 12'345.6),
                                Paced(SampleLatency(7'461, 10'095, 10'195, 10'880, 10'990, 12'340), 45'000));
  drops.counts = {20'005, 7'461, 12'544, 0, 7'461, 0, 0};
  drops.objective_met = false;
  drops.notes = {
      {"slots-saturated", "all 4 slots were taken at times (--max-outstanding): 12544 of 20005 calls were dropped"}};
  PointResult late = OpenPoint(40'000, 398'000, SampleLatency(398'000, 250, 900, 2500, 4000, 6000),
                               Paced(SampleLatency(398'000, 50, 90, 120, 200, 400), 2'100'000));
  late.counts = {398'010, 398'002, 8, 0, 398'000, 2, 0};
  late.errors = {{"UNAVAILABLE", 2, "Socket closed"}};
  late.objective_met = false;
  late.warnings = {{"pacer-late", "the pacer was late: 2100 µs at P99, of 2500 µs from scheduled to done"}};
  late.notes = {
      {"client-cpu-saturated", "the client uses 0.97 of 1 CPU(s): this measures CPU, not the connection"},
      {"slots-saturated", "all 4 slots were taken at times (--max-outstanding): 8 of 398010 calls were dropped"}};
  result.points = {kept, drops, late};
  return result;
}

Result QueueSample() {
  Result result;
  result.context = OpenContext(AtLimit::kQueue);
  result.context.repetitions = 2;
  result.context.run.messages = MessageStrategy::kBytes;
  result.context.run.stub = StubKind::kGeneric;
  result.points = {OpenPoint(5000, 50'000, SampleLatency(50'000, 100, 200, 1000, 2000, 3000),
                             Paced(SampleLatency(50'000, 90, 190, 400, 800, 900), 20'000)),
                   OpenPoint(5000, 49'000, SampleLatency(50'100, 300, 400, 800'000, 4'000'000, 5'000'000),
                             Paced(SampleLatency(50'000, 92, 192, 402, 802, 902), 40'000))};
  PointResult& second = result.points[1];
  second.repetition = 1;
  second.counts = {50'100, 50'000, 0, 100, 50'000, 0, 0};
  second.latency->at_least = 100;
  second.latency->least_age_ns = 900 * kNanosPerMilli;  // above its own P99
  second.open_loop->slot_wait_mean_ns = 12'345;
  second.open_loop->slot_wait_p99_ns = 700 * kNanosPerMilli;
  second.open_loop->slot_wait_max_ns = 4'900 * kNanosPerMilli;
  second.open_loop->outstanding_first_half = 2.5;
  second.open_loop->outstanding_second_half = 1'400;
  second.warnings = {{"unfinished-calls", absl::StrCat("100 call(s) that were due were never sent", kWithheld)},
                     {"backlog-grows",
                      "calls pile up: 2.5 were outstanding in the first half of the window, 1400.0 "
                      "in the second"}};
  second.notes = {{"slots-saturated", "all 4 slots were taken at times (--max-outstanding)"}};
  return result;
}

Result CensoredSample() {
  Result result;
  result.context = SampleContext();
  result.context.run.total = 1'980;
  for (const auto& [inflight, hanging] : {std::pair{1, 1u}, std::pair{4, 30u}, std::pair{8, 8u}}) {
    Histogram ended, at_least;
    const uint64_t ok = inflight == 8 ? 0 : 1'980;
    if (ok > 0) ended.Record(100'000, ok);
    at_least.Record(3 * kNanosPerSecond, hanging);
    PointResult& p = result.points.emplace_back(SamplePoint(inflight, ok, Summarize(ended, &at_least).value()));
    p.counts = {ok + hanging, ok + hanging, 0, 0, ok, 0, hanging};
    p.warnings = {{"unfinished-calls", absl::StrCat(hanging, " call(s) never ended", kWithheld)}};
    Histogram all;
    all.Merge(ended);
    all.Merge(at_least);
    p.latency_histogram = EncodeHdr(all);
  }
  result.points[2].failure = "no call ended inside the window";
  return result;
}

Result FoundRateSample() {
  Result result;
  result.context = OpenContext(AtLimit::kQueue);
  result.context.objective = "p99<2ms";
  result.find_rate.emplace();
  FindRateResult& found = *result.find_rate;
  found.objective = "p99<2ms";
  found.resolved = true;
  found.rate = 3912.25;
  found.low = 3700;
  found.high = 4101.25;
  found.trials = {{2000, true, false, "", false},
                  {4000, true, false, "", false},
                  {8000, false, false, "p99 is 35 ms", false},
                  {8000, false, true, "the pacer was late", false},
                  {8000, false, false, "p99 is 36 ms", false},
                  {4000, false, false, "p99 is 2.5 ms", false}};
  result.points = {OpenPoint(4000, 40'000, SampleLatency(40'000, 100, 200, 1000, 2000, 3000),
                             Paced(SampleLatency(40'000, 90, 190, 400, 800, 900), 20'000))};
  return result;
}

Result UnresolvedRateSample() {
  Result result = FoundRateSample();
  FindRateResult& found = *result.find_rate;
  found.resolved = false;
  found.unresolved_reason = "the client could not send faster than 4000/s";
  found.trials = {{4000.25, true, false, "", false}, {8000.5, false, true, "the rate was not reached", false}};
  return result;
}

}  // namespace cqbench
