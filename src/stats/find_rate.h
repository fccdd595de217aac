// The highest rate under an objective: which rates to try, and what their outcomes say together. No clock, no network:
// whoever measures a rate is given as a function, so that the search is tested against queues whose answer is known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cqbench {

// One measurement at one rate.
struct RateTrial {
  double rate = 0;
  bool met = false;           // the objective was
  bool client_fault = false;  // the client did not keep the rate, or sent late: says nothing about the server
  std::string why;            // it missed the objective, or what the client did; for people
  bool interrupted = false;   // ends the search
};

struct FindRateConfig {
  double start_rate = 1000;  // where doubling begins; clamped to the following
  double min_rate = 1;       // no lower rate is tried
  double max_rate = 10e6;    // nor a higher one
  uint64_t seed = 1;         // of the order of the rates in a round
};

struct FindRateResult {
  std::string objective;  // set by the caller
  bool resolved = false;
  double rate = 0;                // the highest at which the objective is met as often as not; resolved only
  double low = 0, high = 0;       // 95 % interval of it
  std::string unresolved_why;     // one line, for people
  std::vector<RateTrial> trials;  // in the order in which they were made
};

// 1. Doubling from the start rate until a rate misses the objective, or halving when the start misses already; then
//    bisection until the bracket is within 15 %. A rate that misses is tried again: two of three decide.
// 2. Five rounds of seven rates each, in a random order, spread over what the trials so far leave plausible; when the
//    first round shows that outliers misled the search, it looks for a bracket once more.
// 3. The share of trials that met the objective is fitted by a curve that never rises (pool adjacent violators), with
//    no other assumption. A rate is in the interval unless forcing that curve through one half there makes the trials
//    much less likely; `rate` is the mean of those in it, by their likelihood. The interval ends at rates that were
//    tried, so it is never narrower than their distance.
// Trials at which the client was at fault are left out; three at one rate are taken for its limit, and when it is in
// the way the result is unresolved and says so. Unresolved too: an objective that is always or never met, one whose
// outcomes do not clearly depend on the rate, an interval wider than a factor of two, an interruption. Not more than 60
// trials, unless bracketing alone takes so many; typically 45 to 52. Nothing is assumed of `measure` but that its
// trials are independent; it is called on the caller's thread, and the rate in what it returns is overwritten.
//
// Accuracy, from 2000 simulated searches each (FindRateTable.DISABLED_Full in the unit tests): P99 below 2 ms
// of an M/M/1 queue that serves mu calls a second, whose measured P99 or whose mu differs from trial to trial by so
// much (standard deviation, log-normal); outliers miss at any rate; drift is of mu, in 50 trials. `covers` is the share
// of the resolved searches whose interval holds the truth, `error` that of the rate (median, and 95th percentile),
// `width` the median of high / low less 1.
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
// Queues simulated call by call, 20,000 calls a trial, against ln 100 / (mu - rate), 400 searches each: 95.5 %, 94.8 %
// and 96.0 % covered with mu ± 0, 5 and 10 %. With the client at fault in a tenth of the trials, resolved falls by 1 to
// 4 points and coverage stays. An objective met by the toss of a coin at any rate is resolved, wrongly, in 2.5 % of
// searches. A bootstrap over five rounds of seven fixed rates covered 2 to 96 % in such models, mostly less than 85 %:
// five rounds are few, it knows nothing of what lies between two rates, and it is known to fail for monotone fits
// (Sen, Banerjee and Woodroofe, Inconsistency of bootstrap: the Grenander estimator, 2010).
FindRateResult FindRate(const FindRateConfig& config, const std::function<RateTrial(double rate)>& measure);

}  // namespace cqbench
