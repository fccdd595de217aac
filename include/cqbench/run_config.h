// What the client was asked to do: plain data, checked once, immutable afterwards.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/channel_policy.h"
#include "cqbench/clock.h"
#include "cqbench/target.h"

namespace cqbench {

enum class WorkloadKind { kPing, kEcho };
enum class ClientApi { kSync, kCq, kCallback };
enum class RpcMode { kUnary, kStreaming };
enum class PollMode { kBlock, kSpin };

absl::string_view ToString(WorkloadKind kind);
absl::string_view ToString(ClientApi api);
absl::string_view ToString(RpcMode mode);
absl::string_view ToString(PollMode mode);

struct ChannelArg {
  std::string key;
  std::variant<int, std::string> value;
};
// "key=value"; a value that is a whole number in the range of int becomes one.
absl::StatusOr<ChannelArg> ParseChannelArg(absl::string_view text);

// A number of seconds ("10", "0.5") or a number with a unit ("500ms", "2m"). INVALID_ARGUMENT unless it is at least
// `min_ns` and at most a day.
absl::StatusOr<Nanos> ParseDuration(absl::string_view text, Nanos min_ns = 1);
// The shortest exact form: "500ms", "10s".
std::string FormatDuration(Nanos ns);

inline constexpr int kMaxInflight = 100'000;
inline constexpr uint32_t kMaxPayloadBytes = 64u << 20;

// The in-flight counts min, min+step, … up to and including max.
std::vector<int> SweepRange(int min, int max, int step);
// "1,2,4": each in 1..kMaxInflight, none twice.
absl::StatusOr<std::vector<int>> ParseInflightList(absl::string_view text);

struct RunConfig {
  std::vector<Target> targets;
  WorkloadKind workload = WorkloadKind::kPing;
  RpcMode mode = RpcMode::kUnary;
  ClientApi api = ClientApi::kSync;
  PollMode poll = PollMode::kBlock;
  int threads = 0;  // completion-queue threads; 0: the CPUs that the process may run on
  ChannelPolicy policy;
  std::vector<int> inflight;
  Nanos warmup_ns = kNanosPerSecond;
  Nanos interval_ns = 10 * kNanosPerSecond;
  Nanos deadline_ns = kNanosPerSecond;  // per call; per message when streaming
  Nanos connect_timeout_ns = 5 * kNanosPerSecond;
  int repetitions = 1;
  double until_stable_percent = 0;  // repeat until the throughputs' intervals are this narrow; 0: do not
  int max_repetitions = 50;         // for the line above
  bool evidence = true;             // sample both ends at the edges of the window
  bool breakdown = false;           // time the parts of a sample of the calls
  bool baseline = false;            // measure the floor in every repetition
  uint32_t request_bytes = 0;       // echo only
  uint32_t response_bytes = 0;      // echo only
  std::vector<ChannelArg> channel_args;
  std::string service_config;  // JSON; empty: none
};

}  // namespace cqbench
