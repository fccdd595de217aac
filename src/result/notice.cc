#include "src/result/notice.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace cqbench {
namespace {

void AddOnce(absl::string_view code, std::vector<absl::string_view>& codes) {
  if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
}

}  // namespace

const std::vector<NoticeCode>& WarningCodes() {
  static const std::vector<NoticeCode> codes = {
      {kArrivalsShape, "The gaps between arrivals do not have the distribution of the schedule."},
      {kBacklogGrows, "Outstanding calls pile up over the window."},
      {kClockSource, "Whole run: a clock source other than the TSC."},
      {kOtherConnections, "The process has more or fewer connections than the channel policy promises."},
      {kCpuScaling, "Whole run: a CPU frequency governor other than performance."},
      {kDrift, "Throughput drifts from the first to the second half of the window."},
      {kLittlesLaw, "Throughput x mean latency differs from the calls in flight."},
      {kMissingRanks, "Some client processes measured nothing."},
      {kMissingRepetitions, "A repetition measured nothing."},
      {kNotWarmedUp, "Throughput at the beginning of the window differs from the rest."},
      {kOtherClient, "Another client uses the server."},
      {kOtherProcesses, "Unrelated processes used the CPUs of one end."},
      {kOtherServer, "The server that --control names is not the one that was measured."},
      {kPacerLate, "The pacer was late, so that latencies include its delay."},
      {kRankCpus, "Client processes on one machine share CPUs."},
      {kRateNotReached, "The client did not send at the target rate."},
      {kSharedCpus, "Whole run: client and server share CPUs."},
      {kSteal, "The hypervisor took CPU time."},
      {kStraggler, "One client process differs from the others."},
      {kSuspended, "The machine slept within the window."},
      {kUnfinishedCalls, "Calls never ended or were never sent."},
      {kWindowSkew, "The windows of the client processes do not coincide."},
  };
  return codes;
}

const std::vector<NoticeCode>& NoteCodes() {
  static const std::vector<NoticeCode> codes = {
      {kCallsAbandoned, "Calls did not end although they were cancelled; nothing is measured after them."},
      {kCallsLeftOut, "--skip-first left out fewer calls than it should."},
      {kClientCpuSaturated, "The client used all CPUs that it may run on."},
      {kIdleChannels, "There are more channels than calls in flight."},
      {kIntervalEnded, "The interval ended before --total calls were done."},
      {kNotMeasured, "Something could not be measured."},
      {kNotStable, "The interval of the throughput is wider than --until-stable allows."},
      {kRateMissed, "The target rate of payload bytes was not reached."},
      {kServerCpuSaturated, "The server used all CPUs that it may run on."},
      {kSlotsSaturated, "Calls found all slots taken."},
      {kStreamLimit, "More calls are in flight than the server allows concurrent streams on the connections."},
      {kTooFewCalls, "There are too few calls for a percentile."},
  };
  return codes;
}

std::string SaturatedResources(const std::vector<Notice>& notes) {
  std::vector<absl::string_view> resources;
  for (const Notice& note : notes) {
    absl::string_view resource = note.code;
    if (absl::ConsumeSuffix(&resource, "-saturated")) AddOnce(resource, resources);
  }
  return absl::StrJoin(resources, " ");
}

std::string Codes(const std::vector<Notice>& notices) {
  std::vector<absl::string_view> codes;
  for (const Notice& notice : notices) AddOnce(notice.code, codes);
  return absl::StrJoin(codes, " ");
}

}  // namespace cqbench
