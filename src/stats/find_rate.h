// Finds the highest rate that meets an objective: which rates to try, and what their outcomes mean together. The search
// has no clock and no network: the caller passes a function that measures a rate. Tests pass simulated queues whose
// highest rate is known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cqbench {

// The outcome of one measurement at one rate.
struct RateTrial {
  double rate = 0;
  bool met = false;           // the rate met the objective
  bool client_fault = false;  // the client fell behind the rate: the trial is no evidence about the server
  std::string why;            // why the trial missed the objective, or how the client failed; text for people
  bool interrupted = false;   // the user interrupted the trial, which ends the search
};

struct FindRateConfig {
  double start_rate = 1000;  // doubling begins here; clamped to min_rate and max_rate
  double min_rate = 1;       // the search tries no lower rate
  double max_rate = 10e6;    // the search tries no higher rate
  uint64_t seed = 1;         // seeds the order of the rates in a round
};

struct FindRateResult {
  std::string objective;  // set by the caller
  bool resolved = false;
  double rate = 0;                // half of the trials at this rate meet the objective; resolved only
  double low = 0, high = 0;       // 95 % interval of `rate`
  std::string unresolved_reason;  // one line, for people
  std::vector<RateTrial> trials;  // in the order in which they were made
};

// The search has three steps:
// 1. It doubles the start rate until a rate misses the objective, or halves it if the start rate misses already. Then
// it
//    bisects until the bracket is within 15 %. It repeats the trial of a rate that misses: two of three decide.
// 2. It makes five rounds of seven rates each, in a random order, spread over the rates that are still plausible. If
// the
//    first round shows that outliers misled the search, it looks for a bracket once more.
// 3. It fits the share of trials that met the objective by a curve that never rises (pool adjacent violators), with no
//    other assumption. The interval contains a rate unless the trials become much less likely when the curve is forced
//    through one half there. `rate` is the mean of the rates in the interval, weighted by likelihood. The interval ends
//    at rates that were tried, so it is never narrower than their distance.
// Trials at which the client was at fault do not count. Three such trials at one rate make this rate the client's
// maximum; if the maximum is too low to resolve the search, the result says so. The result is also unresolved if the
// objective is always or never met, if its outcomes do not clearly depend on the rate, if the interval is wider than a
// factor of two, or if the user interrupts. A search makes at most 60 trials, unless bracketing alone takes more;
// typically 45 to 52. The trials of `measure` must be independent. FindRate() calls it on the caller's thread and
// overwrites the rate in its result.
//
// Accuracy, from 2000 simulated searches each (FindRateTable.DISABLED_Full in the unit tests). The objective is a P99
// below 2 ms. The server is an M/M/1 queue that serves mu calls a second. The columns P99 and mu are the standard
// deviation (log-normal) with which the measured P99 or mu differs from trial to trial. Outliers miss the objective at
// any rate. Drift is that of mu over 50 trials. `covers` is the share of the resolved searches whose interval contains
// the true rate, `error` that of the rate (median, and 95th percentile), `width` the median of high / low less 1.
//
//   mu         P99      mu       outliers  drift   resolved  covers   error        width
//   10,000/s   ± 0.1 %                             100 %     100 %    0.3 (0.7) %   3 %
//   10,000/s   ± 10 %                              100 %      97 %    0.8 (2.4) %   7 %
//   10,000/s   ± 20 %                              100 %      97 %    1.4 (4.0) %  12 %
//   10,000/s   ± 15 %            5 %               100 %      97 %    1.3 (4.2) %  11 %
//   10,000/s   ± 15 %            20 %               94 %      96 %    3.1 (14) %   21 %
//   10,000/s   ± 15 %            5 %       5 %     100 %      98 %    1.3 (4.2) %  13 %
//   10,000/s   ± 5 %                       10 %    100 %     100 %    0.7 (2.0) %  10 %
//   1,000,000  ± 15 %            2 %       5 %     100 %     100 %    0.5 (1.4) %   5 %
//   4,000/s    ± 20 %            5 %                83 %      96 %    4.7 (15) %   49 %
//   10,000/s            ± 5 %                      100 %      97 %    1.4 (4.2) %  13 %
//   10,000/s            ± 10 %   5 %               100 %      96 %    2.7 (7.8) %  26 %
//   10,000/s            ± 20 %                      95 %      96 %    4.4 (13) %   45 %
//
// Queues were also simulated call by call, 20,000 calls a trial, against ln 100 / (mu - rate), 400 searches each: the
// interval covered 95.5 %, 94.8 % and 96.0 % with mu ± 0, 5 and 10 %. With the client at fault in a tenth of the
// trials, the resolved share falls by 1 to 4 points and coverage stays. If a coin toss decides whether the objective is
// met, 2.5 % of searches wrongly resolve. A bootstrap over five rounds of seven fixed rates covered 2 to 96 % in these
// models, mostly less than 85 %: five rounds are too few, and a bootstrap ignores the range between two rates. It is
// also known to fail for monotone fits (Sen, Banerjee and Woodroofe, Inconsistency of bootstrap: the Grenander
// estimator, 2010).
FindRateResult FindRate(const FindRateConfig& config, const std::function<RateTrial(double rate)>& measure);

}  // namespace cqbench
