// Durations, sizes, rates, lists, objectives and policies of the command lines: accepted values are within their
// bounds, and the text of a value reads back as the same value.
#include <cmath>

#include "cqbench/channel_policy.h"
#include "cqbench/run_config.h"
#include "src/config/units.h"
#include "src/result/objective.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cqbench;
  using fuzz::Require;
  const absl::string_view text = fuzz::Text(data, size);
  if (const auto duration = ParseDuration(text); duration.ok()) {
    Require(*duration >= 1 && *duration <= 86'400 * kNanosPerSecond, "a duration of at most a day");
    const auto again = ParseDuration(FormatDuration(*duration));
    Require(again.ok() && *again == *duration, "a duration reads back");
  }
  if (const auto bytes = ParseBytes(text, kMaxPayloadBytes); bytes.ok()) Require(*bytes <= kMaxPayloadBytes, "a size");
  if (const auto rate = ParseByteRate(text); rate.ok()) Require(*rate > 0 && *rate <= 1e12, "a rate of data");
  if (const auto list = ParseInflightList(text); list.ok()) {
    for (const int inflight : *list) Require(inflight >= 1 && inflight <= kMaxInflight, "calls in flight");
  }
  if (const auto list = ParseRateList(text); list.ok()) {
    for (const double rate : *list) Require(rate > 0 && rate <= kMaxRate, "a rate of calls");
  }
  if (const auto objective = ParseObjective(text); objective.ok()) {
    Require(!objective->empty(), "an objective asks for something");
    const auto again = ParseObjective(objective->ToString());
    Require(again.ok() && again->ToString() == objective->ToString(), "an objective reads back");
  }
  if (const auto policy = ParseChannelPolicy(text); policy.ok()) {
    const auto again = ParseChannelPolicy(policy->ToString());
    Require(again.ok() && again->ToString() == policy->ToString(), "a policy reads back");
    Require(!PlanChannels(*policy, 3, 2).channels.empty(), "a policy has channels");
  }
  (void)ParseChannelArg(text);
  (void)ParseMetadata(text);
  (void)ParseHttpCall(text);
  return 0;
}
