#include "cqbench/recorder.h"

#include <numeric>

namespace cqbench {

absl::string_view OutcomeName(int code) {
  static constexpr absl::string_view kNames[kNumOutcomes] = {
      "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED", "BAD_RESPONSE",
  };
  return code >= 0 && code < kNumOutcomes ? kNames[code] : kNames[2];
}

namespace {

// Messages come from the network: what a terminal would act on is replaced, and what is long is cut.
std::string OneLine(absl::string_view message) {
  constexpr size_t kMaxLength = 300;
  std::string line(message.substr(0, kMaxLength));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return line;
}

}  // namespace

void Failures::Add(int code, absl::string_view message) {
  const auto i = static_cast<size_t>(code >= 0 && code < kNumOutcomes ? code : 2);
  if (count[i]++ == 0) first_message[i] = OneLine(message);
}

void Failures::Merge(const Failures& other) {
  for (size_t i = 0; i < count.size(); ++i) {
    if (count[i] == 0) first_message[i] = other.first_message[i];
    count[i] += other.count[i];
  }
}

uint64_t Failures::Total() const {
  return std::accumulate(count.begin(), count.end(), uint64_t{0});
}

void Recorder::Failure(Nanos sent_ns, Nanos done_ns, int code, absl::string_view message) {
  if (window_->Contains(sent_ns) || window_->Contains(done_ns)) failures_.Add(code, message);
}

void Recorder::Parts(Nanos sent_ns, Nanos issue_ns, Nanos wait_ns) {
  if (!parts_) parts_ = std::make_unique<PartTimes>();
  if (!window_->Contains(sent_ns)) return;
  parts_->issue.Record(issue_ns);
  if (wait_ns >= 0) parts_->wait.Record(wait_ns);
}

void Recorder::Merge(const Recorder& other) {
  if (other.parts_) {
    if (!parts_) parts_ = std::make_unique<PartTimes>();
    parts_->issue.Merge(other.parts_->issue);
    parts_->wait.Merge(other.parts_->wait);
  }
  completed_.store(Completed() + other.Completed(), std::memory_order_relaxed);
  latency_.Merge(other.latency_);
  failures_.Merge(other.failures_);
}

}  // namespace cqbench
