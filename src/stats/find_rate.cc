#include "src/stats/find_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/str_format.h"

namespace cqbench {
namespace {

constexpr double kBracket = 1.15;  // the bisection ends when the bracket is this narrow
constexpr int kRounds = 5;
constexpr int kRatesPerRound = 7;
constexpr size_t kMaxTrials = 60;         // only the first round may exceed this number
constexpr double kNarrowestRound = 1.06;  // ratio of the highest to the lowest rate of a round: one percent a step
constexpr double kRoundMargin = 1.02;     // a round reaches beyond the plausible rates by this factor on both sides
constexpr double kWidest = 2;             // an interval whose ends differ by more than this factor counts as unresolved
// A rate with a deviance above this value is not in the interval. The 95 % point of the limit distribution is 2.27
// (Banerjee and Wellner, Likelihood ratio tests for monotone functions, 2001). With this few trials, placed as they
// come in, 2.27 covers only 93 % in the worst of the simulations in the header's table; 2.8 covers at least 96 %.
constexpr double kExcluded = 2.8;
// The search does not try a rate with a deviance above this value again. A resolved search has such rates on both sides
// of its result. With 2.8 instead, 39 % of the searches found a rate for an objective that does not depend on the rate
// at all.
constexpr double kSure = 6;
constexpr int kConfirm = 2;  // trials at one rate that decide; two of three agree
constexpr int kFaults = 3;   // after this many client faults at a rate, the rate counts as the client's maximum

// Counts the trials at one rate, without those at which the client was at fault.
struct Tally {
  double rate = 0;
  int met = 0, missed = 0;
};

std::vector<Tally> TallyUp(const std::vector<RateTrial>& trials) {
  std::vector<Tally> tallies;
  for (const RateTrial& trial : trials) {
    if (trial.client_fault || trial.interrupted) continue;
    const auto at = std::lower_bound(tallies.begin(), tallies.end(), trial.rate,
                                     [](const Tally& tally, double rate) { return tally.rate < rate; });
    Tally& tally = at != tallies.end() && at->rate == trial.rate ? *at : *tallies.insert(at, {trial.rate});
    ++(trial.met ? tally.met : tally.missed);
  }
  return tallies;
}

double LogLikelihood(const Tally& block, double share) {
  const double met = block.met > 0 ? block.met * std::log(share) : 0;
  return met + (block.missed > 0 ? block.missed * std::log(1 - share) : 0);
}

double ShareOf(const Tally& block) {
  return static_cast<double>(block.met) / static_cast<double>(block.met + block.missed);
}

// Returns the greatest log likelihood of shares that never rise with the rate and lie in [least, most]: pool adjacent
// violators, then clip.
double BestFit(const Tally* begin, const Tally* end, double least, double most) {
  std::vector<Tally> blocks;
  for (const Tally* tally = begin; tally != end; ++tally) {
    blocks.push_back(*tally);
    while (blocks.size() > 1 && ShareOf(blocks[blocks.size() - 2]) <= ShareOf(blocks.back())) {
      const Tally last = blocks.back();
      blocks.pop_back();
      blocks.back().met += last.met;
      blocks.back().missed += last.missed;
    }
  }
  double sum = 0;
  for (const Tally& block : blocks) sum += LogLikelihood(block, std::clamp(ShareOf(block), least, most));
  return sum;
}

// Returns twice the log likelihood ratio against "the share falls through one half between tallies i - 1 and i", for
// each i from 0 (below all tallies) to their number (above all).
std::vector<double> Deviances(const std::vector<Tally>& tallies) {
  const Tally* begin = tallies.data();
  const Tally* end = begin + tallies.size();
  const double best = BestFit(begin, end, 0, 1);
  std::vector<double> deviances;
  for (const Tally* split = begin; split <= end; ++split) {
    deviances.push_back(2 * (best - BestFit(begin, split, 0.5, 1) - BestFit(split, end, 0, 0.5)));
  }
  return deviances;
}

struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool closed() const { return low > 0 && std::isfinite(high); }
};

// Returns the rates that the trials do not contradict by more than `deviance`.
Range Plausible(const std::vector<Tally>& tallies, double deviance) {
  const std::vector<double> deviances = Deviances(tallies);
  const auto plausible = [&](double d) { return d <= deviance; };
  const auto first = std::find_if(deviances.begin(), deviances.end(), plausible) - deviances.begin();
  const auto after_last = deviances.rend() - std::find_if(deviances.rbegin(), deviances.rend(), plausible);
  Range range;
  if (first > 0) range.low = tallies[static_cast<size_t>(first) - 1].rate;
  if (after_last <= static_cast<long>(tallies.size())) range.high = tallies[static_cast<size_t>(after_last) - 1].rate;
  return range;
}

// Returns the mean of the rates in the range, weighted by likelihood, on a logarithmic scale.
double Centre(const std::vector<Tally>& tallies, const Range& range) {
  const std::vector<double> deviances = Deviances(tallies);
  double weights = 0, sum = 0;
  for (size_t i = 1; i < tallies.size(); ++i) {
    if (tallies[i - 1].rate < range.low || tallies[i].rate > range.high) continue;
    const double low = std::log(tallies[i - 1].rate), high = std::log(tallies[i].rate);
    const double weight = std::exp(-deviances[i] / 2) * (high - low);
    weights += weight;
    sum += weight * (low + high) / 2;
  }
  return std::exp(sum / weights);
}

enum class Verdict { kMet, kMissed, kClientFault, kInterrupted };

constexpr double kNever = std::numeric_limits<double>::infinity();

// Each step returns false when the search has ended; the result then has the reason.
class Search {
 public:
  Search(const FindRateConfig& config, const std::function<RateTrial(double)>& measure)
      : config_(config), measure_(measure), random_(config.seed) {}

  FindRateResult Run();

 private:
  Verdict Try(double rate);
  Verdict Confirmed(double rate);
  bool Up(double from);
  bool Down(double from);
  bool Bracket();
  bool Bisect();
  bool Rounds();
  bool Round(int number);
  bool BracketAgain();
  bool Conclude();
  bool Unresolved(std::string why);
  bool ClientLimits();
  double Upper() const { return std::min(missed_, fault_); }

  const FindRateConfig config_;
  const std::function<RateTrial(double)>& measure_;
  std::mt19937_64 random_;  // decides the order of rates within a round
  FindRateResult result_;
  // The bracket: the highest rate that met the objective, the lowest that missed it, and the lowest that the client
  // could not send. The bracket only decides where to measure; the result follows from the trials.
  double met_ = 0, missed_ = kNever, fault_ = kNever;
};

bool Search::Unresolved(std::string why) {
  result_.unresolved_reason = std::move(why);
  return false;
}

bool Search::ClientLimits() {
  return Unresolved(
      met_ > 0 ? absl::StrFormat("the client is the limit: it kept %.6g/s, where the objective is met, but not %.6g/s",
                                 met_, fault_)
               : absl::StrFormat("the client is the limit: it could not keep %.6g/s", fault_));
}

Verdict Search::Try(double rate) {
  RateTrial trial = measure_(rate);
  trial.rate = rate;
  result_.trials.push_back(trial);
  if (trial.interrupted) {
    Unresolved("interrupted");
    return Verdict::kInterrupted;
  }
  if (trial.client_fault) return Verdict::kClientFault;
  return trial.met ? Verdict::kMet : Verdict::kMissed;
}

// One trial decides if it meets the objective. Otherwise two of three decide. Trials with the client at fault do not
// count.
Verdict Search::Confirmed(double rate) {
  int met = 0, missed = 0, faults = 0;
  for (;;) {
    const Verdict verdict = Try(rate);
    if (verdict == Verdict::kInterrupted) return verdict;
    if (verdict == Verdict::kMet && (++met == kConfirm || missed == 0)) {
      met_ = std::max(met_, rate);
      return verdict;
    }
    if (verdict == Verdict::kMissed && ++missed == kConfirm) {
      missed_ = std::min(missed_, rate);
      return verdict;
    }
    if (verdict == Verdict::kClientFault && ++faults == kFaults) {
      fault_ = std::min(fault_, rate);
      return verdict;
    }
  }
}

bool Search::Up(double from) {
  for (double rate = from; rate < config_.max_rate;) {
    rate = std::min(2 * rate, config_.max_rate);
    const Verdict verdict = Confirmed(rate);
    if (verdict != Verdict::kMet) return verdict != Verdict::kInterrupted;
  }
  return Unresolved(absl::StrFormat("the objective is still met at %.6g/s, the highest rate to try", config_.max_rate));
}

bool Search::Down(double from) {
  for (double rate = from; rate > config_.min_rate;) {
    rate = std::max(rate / 2, config_.min_rate);
    const Verdict verdict = Confirmed(rate);
    if (verdict == Verdict::kInterrupted) return false;
    if (verdict == Verdict::kMet) return true;
  }
  if (missed_ == kNever) return ClientLimits();
  return Unresolved(absl::StrFormat("the objective is missed even at %.6g/s, the lowest rate to try", missed_));
}

bool Search::Bracket() {
  const double start = std::clamp(config_.start_rate, config_.min_rate, config_.max_rate);
  const Verdict verdict = Confirmed(start);
  if (verdict == Verdict::kInterrupted) return false;
  return verdict == Verdict::kMet ? Up(start) : Down(start);
}

bool Search::Bisect() {
  while (Upper() > kBracket * met_) {
    if (Confirmed(std::sqrt(met_ * Upper())) == Verdict::kInterrupted) return false;
  }
  return fault_ < missed_ ? ClientLimits() : true;
}

// Tries rates over the plausible range. The first round stays close to the bracket; each further round may go as far
// again beyond it.
bool Search::Round(int number) {
  const Range plausible = Plausible(TallyUp(result_.trials), kSure);
  const double reach = std::pow(kBracket, number + 1);
  const double low = std::max(plausible.low, met_ / reach), high = std::min(plausible.high, missed_ * reach);
  const double width = std::max(kNarrowestRound, high / low * kRoundMargin * kRoundMargin);
  std::vector<double> rates;
  for (int i = 0; i < kRatesPerRound; ++i) {
    const double rate = std::sqrt(low * high) * std::pow(width, static_cast<double>(i) / (kRatesPerRound - 1) - 0.5);
    rates.push_back(std::clamp(rate, config_.min_rate, config_.max_rate));
  }
  std::shuffle(rates.begin(), rates.end(), random_);
  return std::all_of(rates.begin(), rates.end(), [&](double rate) { return Try(rate) != Verdict::kInterrupted; });
}

// Looks for a new bracket if the first round does not exclude rates outside all that were tried: two outliers in a row
// have then misled the search.
bool Search::BracketAgain() {
  const std::vector<Tally> tallies = TallyUp(result_.trials);
  if (tallies.empty()) return true;
  const Range range = Plausible(tallies, kExcluded);
  if (range.closed()) return true;
  if (range.low == 0) {
    met_ = 0;
    return Down(tallies.front().rate) && Bisect();
  }
  missed_ = kNever;
  return Up(tallies.back().rate) && Bisect();
}

bool Search::Rounds() {
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0 && result_.trials.size() + static_cast<size_t>(kRatesPerRound) > kMaxTrials) break;
    if (!Round(round)) return false;
    if (round == 0 && !BracketAgain()) return false;
  }
  return true;
}

bool Search::Conclude() {
  const std::vector<Tally> tallies = TallyUp(result_.trials);
  if (!Plausible(tallies, kSure).closed()) {
    const auto faults = std::count_if(result_.trials.begin(), result_.trials.end(),
                                      [](const RateTrial& trial) { return trial.client_fault; });
    return Unresolved(absl::StrFormat(
        "after %d trials, %d of them lost to the client, it is not sure that the objective depends on the rate",
        result_.trials.size(), faults));
  }
  const Range range = Plausible(tallies, kExcluded);
  if (range.high > kWidest * range.low) {
    return Unresolved(absl::StrFormat("the outcomes vary too much: all that %d trials tell is from %.4g/s to %.4g/s",
                                      result_.trials.size(), range.low, range.high));
  }
  result_.resolved = true;
  result_.rate = Centre(tallies, range);
  result_.low = range.low;
  result_.high = range.high;
  return true;
}

FindRateResult Search::Run() {
  // Each step leaves in the result why the search ended.
  (void)(Bracket() && Bisect() && Rounds() && Conclude());
  return std::move(result_);
}

}  // namespace

FindRateResult FindRate(const FindRateConfig& config, const std::function<RateTrial(double rate)>& measure) {
  return Search(config, measure).Run();
}

}  // namespace cqbench
