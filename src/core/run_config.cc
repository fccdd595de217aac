#include "cqbench/run_config.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"

namespace cqbench {

absl::string_view ToString(WorkloadKind kind) {
  return kind == WorkloadKind::kPing ? "ping" : "echo";
}

absl::string_view ToString(ClientApi api) {
  switch (api) {
    case ClientApi::kSync:
      return "sync";
    case ClientApi::kCq:
      return "cq";
    case ClientApi::kCallback:
      return "callback";
  }
  return "?";
}

absl::string_view ToString(RpcMode mode) {
  return mode == RpcMode::kUnary ? "unary" : "streaming";
}
absl::string_view ToString(PollMode mode) {
  return mode == PollMode::kBlock ? "block" : "spin";
}

absl::StatusOr<ChannelArg> ParseChannelArg(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not KEY=VALUE"));
  }
  ChannelArg arg{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (int number = 0; absl::SimpleAtoi(text.substr(equals + 1), &number)) arg.value = number;
  return arg;
}

absl::StatusOr<Nanos> ParseDuration(absl::string_view text, Nanos min_ns) {
  absl::Duration duration;
  if (double seconds = 0; absl::SimpleAtod(text, &seconds)) {
    duration = std::isfinite(seconds) ? absl::Seconds(seconds) : absl::InfiniteDuration();
  } else if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a duration: a number of seconds, or a number with ns, us, ms, s, m or h"));
  }
  if (duration < absl::Nanoseconds(min_ns) || duration > absl::Hours(24)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is out of range: accepted is ",
                                                   min_ns > 0 ? "more than 0 and" : "0 or more,", " up to 24h"));
  }
  return absl::ToInt64Nanoseconds(duration);
}

std::string FormatDuration(Nanos ns) {
  return absl::FormatDuration(absl::Nanoseconds(ns));
}

std::vector<int> SweepRange(int min, int max, int step) {
  std::vector<int> values;
  for (int v = min; v < max; v += step) values.push_back(v);
  values.push_back(max);
  return values;
}

absl::StatusOr<std::vector<int>> ParseInflightList(absl::string_view text) {
  std::vector<int> values;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    int value = 0;
    if (!absl::SimpleAtoi(item, &value) || value < 1 || value > kMaxInflight) {
      return absl::InvalidArgumentError(absl::StrCat("'", item, "' is not an in-flight count: whole numbers from 1 to ",
                                                     kMaxInflight, ", separated by commas"));
    }
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      return absl::InvalidArgumentError(absl::StrCat("'", item, "' is given twice; --repetitions measures again"));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace cqbench
