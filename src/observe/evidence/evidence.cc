#include "src/observe/evidence/evidence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/observe/control/plausible.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/take_sample.h"
#include "src/result/histogram_message.h"
#include "src/workload/messages/serializer_times.h"

namespace cqbench {
namespace {

// A thread may wake up later than it asked to.
constexpr Nanos kLateWaking = kNanosPerMilli;

AllocationCounts Between(const Sample& begin, const Sample& end) {
  if (!begin.has_allocations() || !end.has_allocations()) return {};
  AllocationCounts between = CountsOf(end);
  return between -= CountsOf(begin);
}

}  // namespace

void PointEvidence::Rehearse(const std::optional<std::vector<OpenConnection>>& connections) {
  Find(connections);
  const Nanos begin = NowNs();
  SampleHere();
  const Nanos here = NowNs() - begin;
  if (servers_) RehearseServers();
  const Nanos servers = NowNs() - begin - here;
  lead_ = std::max(here, servers) + kLateWaking;  // the first time takes longest, and both go on at once
}

// Takes two samples in a row while nothing else runs. They are as far apart as the window's samples are from the
// measured calls: the end of a control call and the beginning of the next.
void PointEvidence::RehearseServers() {
  const Moments first = servers_->SampleAll(Switches(/*on=*/true)).get();
  if (!counting_) return;
  const Moments second = servers_->SampleAll(std::nullopt).get();
  if (first.empty() || second.empty()) {
    samples_.servers_absent = "its control service did not respond before the window";
    return;
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (const absl::Status valid = ValidateSamples(first[i], second[i], first.size()); !valid.ok()) {
      samples_.servers_absent = NoteOfRefusal(valid);
      return;
    }
    control_allocations_.push_back(Between(first[i].sample, second[i].sample));
  }
}

void PointEvidence::Find(const std::optional<std::vector<OpenConnection>>& connections) {
  if (connections) connections_ = *connections;
}

Sample PointEvidence::SampleHere() const {
  return config_.evidence ? TakeSample(connections_) : SampleOfProcess();
}

// Absent when this run wants no switches: those of another client must stay on.
std::optional<ServerSwitches> PointEvidence::Switches(bool on) const {
  if (counting_) return ServerSwitches{false, on};
  if (config_.breakdown) return ServerSwitches{on, false};
  return std::nullopt;
}

// Samples and control calls allocate before counting begins and after it ends.
void PointEvidence::Begin(Completed completed) {
  if (config_.breakdown && !counting_) SerializerTimes::OfClient().Switch(true);
  if (servers_) servers_begin_ = servers_->SampleAll(Switches(/*on=*/true));
  if (counting_ && servers_) servers_begin_.wait();
  if (config_.server_pid > 0) server_begin_ = TakeSampleOf(config_.server_pid);
  begin_ = SampleHere();
  if (!counting_) return;
  SetCounts(CountedAllocations(), *begin_);
  begin_->set_messages(completed());
  SetCountingAllocations(true);
}

void PointEvidence::End(Completed completed) {
  if (config_.breakdown && !counting_) SerializerTimes::OfClient().Switch(false);
  AllocationCounts counted;
  uint64_t counted_calls = 0;
  if (counting_) {
    counted_calls = completed();
    SetCountingAllocations(false);
    counted = CountedAllocations();
  }
  if (servers_) servers_end_ = servers_->SampleAll(Switches(/*on=*/false));
  end_ = SampleHere();
  if (config_.server_pid > 0) server_end_ = TakeSampleOf(config_.server_pid);
  if (!counting_) return;
  SetCounts(counted, *end_);
  end_->set_messages(counted_calls);
}

void PointEvidence::Report(const Measurement& measurement, const TimingCost& cost, PointResult& point) {
  if (!begin_ || !end_) return;
  CollectClient();
  if (servers_) CollectServers();
  if (config_.server_pid > 0) CollectServerProcess();
  ReportEvidence({config_, plan_, counting_, cost}, samples_, measurement, point);
}

void PointEvidence::CollectClient() {
  samples_.client.before_ns = window_.open_ns() - begin_->taken_at_ns();
  samples_.client.after_ns = end_->taken_at_ns() - window_.close_ns();
  samples_.client.begin = *std::exchange(begin_, std::nullopt);
  samples_.client.end = *std::exchange(end_, std::nullopt);
}

void PointEvidence::CollectServerProcess() {
  if (!server_begin_ || !server_end_) {
    samples_.servers_absent = absl::StrCat("there is no process ", config_.server_pid, " (--server-pid)");
    return;
  }
  ProcessSamples& server = samples_.server_process.emplace();
  server.before_ns = window_.open_ns() - server_begin_->taken_at_ns();
  server.after_ns = server_end_->taken_at_ns() - window_.close_ns();
  server.begin = *std::move(server_begin_);
  server.end = *std::move(server_end_);
}

void PointEvidence::CollectServers() {
  Moments begin = servers_begin_.get(), end = servers_end_.get();
  if (!samples_.servers_absent.empty()) return;  // since the rehearsal
  if (begin.empty() || end.empty()) {
    samples_.servers_absent = "its control service did not respond at a boundary of the window";
    return;
  }
  for (size_t i = 0; i < end.size(); ++i) {
    if (const absl::Status valid = ValidateSamples(begin[i], end[i], end.size()); !valid.ok()) {
      samples_.servers.clear();
      samples_.servers_absent = NoteOfRefusal(valid);
      return;
    }
    ProcessSamples& server = samples_.servers.emplace_back();
    server.boot_id = end[i].boot_id;
    // Its clock is ours only on this machine; elsewhere the sample was taken in the middle of the call, give or take.
    const bool here = server.boot_id == BootId();
    const auto taken_at = [&](const ServerMoment& moment) {
      return here ? moment.sample.taken_at_ns() : (moment.asked_ns + moment.received_ns) / 2;
    };
    server.before_ns = window_.open_ns() - taken_at(begin[i]);
    server.after_ns = taken_at(end[i]) - window_.close_ns();
    server.begin = std::move(begin[i].sample);
    server.end = std::move(end[i].sample);
    if (counting_) server.not_counted = control_allocations_[i];
    if (!server.end.has_call_times()) continue;
    const control::v1::CallTimes& times = server.end.call_times();
    MergeInto(samples_.handling, FromMessage(times.handling()));
    MergeInto(samples_.finishing, FromMessage(times.finishing()));
    MergeInto(samples_.parsing, FromMessage(times.parsing()));
    MergeInto(samples_.serializing, FromMessage(times.serializing()));
  }
}

}  // namespace cqbench
