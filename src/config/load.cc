#include "src/config/load.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace cqbench {
namespace {

// Numbers separated by commas, each as `parse` takes it, none twice.
template <typename T, typename Parse>
absl::StatusOr<std::vector<T>> ParseList(absl::string_view text, absl::string_view what, Parse parse) {
  std::vector<T> values;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    T value{};
    if (!parse(item, value)) return absl::InvalidArgumentError(absl::StrCat("'", item, "' is not ", what));
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      return absl::InvalidArgumentError(absl::StrCat("'", item, "' is given twice; --repetitions measures again"));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

std::string Load::Label() const {
  return open() ? absl::StrFormat("rate %.10g/s", rate) : absl::StrCat("in-flight ", slots);
}

std::string Load::Key() const {
  return open() ? absl::StrFormat("rate:%.10g", rate) : absl::StrCat("inflight:", slots);
}

std::vector<int> SweepRange(int min, int max, int step) {
  std::vector<int> values;
  for (int v = min; v < max; v += step) values.push_back(v);
  values.push_back(max);
  return values;
}

absl::StatusOr<std::vector<int>> ParseInflightList(absl::string_view text) {
  return ParseList<int>(
      text, absl::StrCat("an in-flight count: whole numbers from 1 to ", kMaxInflight, ", separated by commas"),
      [](absl::string_view item, int& n) { return absl::SimpleAtoi(item, &n) && n >= 1 && n <= kMaxInflight; });
}

std::vector<double> RateRange(double min, double max, double step) {
  std::vector<double> values;
  for (int i = 0; min + i * step < max; ++i) values.push_back(min + i * step);
  values.push_back(max);
  return values;
}

absl::StatusOr<std::vector<double>> ParseRateList(absl::string_view text) {
  return ParseList<double>(
      text, absl::StrFormat("a rate: numbers above 0 up to %.0f, calls per second, separated by commas", kMaxRate),
      [](absl::string_view item, double& rate) {
        return absl::SimpleAtod(item, &rate) && rate > 0 && rate <= kMaxRate;
      });
}

}  // namespace cqbench
