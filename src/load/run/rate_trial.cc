#include "src/load/run/rate_trial.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/observe/checks/self_check.h"

namespace cqbench {
namespace {

bool Has(const std::vector<Notice>& notices, const char* code) {
  return std::any_of(notices.begin(), notices.end(), [&](const Notice& notice) { return notice.code == code; });
}

bool ClientAtFault(const PointResult& point) {
  return Has(point.warnings, kPacerLate) || Has(point.warnings, kRateNotReached);
}

}  // namespace

RateTrial TrialOf(const PointResult& point, const std::vector<std::string>& misses, bool interrupted) {
  RateTrial trial;
  trial.rate = point.load.rate;
  trial.interrupted = interrupted || point.partial;
  trial.met = point.failure.empty() && misses.empty();
  trial.client_fault = ClientAtFault(point);
  if (trial.client_fault) {
    const auto text = [](std::string* out, const Notice& warning) { absl::StrAppend(out, warning.text); };
    trial.why = absl::StrJoin(point.warnings, "; ", text);
  } else {
    trial.why = point.failure.empty() ? absl::StrJoin(misses, "; ") : point.failure;
  }
  return trial;
}

}  // namespace cqbench
