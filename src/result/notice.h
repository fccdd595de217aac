// Messages about a point or a run for the reader: warnings and notes.
#pragma once

#include <string>
#include <vector>

namespace cqbench {

// The code is stable, for programs; the text is one plain sentence without its end.
struct Notice {
  std::string code;  // "pacer-late"
  std::string text;
  bool operator==(const Notice&) const = default;
};

// A point with a warning is unreliable.
inline constexpr char kArrivalsShape[] = "arrivals-shape";
inline constexpr char kBacklogGrows[] = "backlog-grows";
inline constexpr char kOtherConnections[] = "connections";
inline constexpr char kDrift[] = "drift";
inline constexpr char kLittlesLaw[] = "littles-law";
inline constexpr char kMissingRanks[] = "missing-ranks";
inline constexpr char kMissingRepetitions[] = "missing-repetitions";
inline constexpr char kNotWarmedUp[] = "not-warmed-up";
inline constexpr char kOtherClient[] = "other-client";
inline constexpr char kOtherProcesses[] = "other-processes";
inline constexpr char kOtherServer[] = "other-server";
inline constexpr char kPacerLate[] = "pacer-late";
inline constexpr char kRankCpus[] = "rank-cpus";
inline constexpr char kRateNotReached[] = "rate-not-reached";
inline constexpr char kSteal[] = "steal";
inline constexpr char kStraggler[] = "straggler";
inline constexpr char kSuspended[] = "suspended";
inline constexpr char kUnfinishedCalls[] = "unfinished-calls";
inline constexpr char kWindowSkew[] = "window-skew";
// These make every point of a run unreliable.
inline constexpr char kClockSource[] = "clock-source";
inline constexpr char kCpuScaling[] = "cpu-scaling";
inline constexpr char kSharedCpus[] = "shared-cpus";
// A note explains a point, which is reliable all the same.
inline constexpr char kCallsAbandoned[] = "calls-abandoned";
inline constexpr char kCallsLeftOut[] = "calls-left-out";
inline constexpr char kClientCpuSaturated[] = "client-cpu-saturated";
inline constexpr char kIdleChannels[] = "idle-channels";
inline constexpr char kIntervalEnded[] = "interval-ended";
inline constexpr char kNotMeasured[] = "not-measured";
inline constexpr char kNotStable[] = "not-stable";
inline constexpr char kRateMissed[] = "rate-missed";
inline constexpr char kServerCpuSaturated[] = "server-cpu-saturated";
inline constexpr char kSlotsSaturated[] = "slots-saturated";
inline constexpr char kStreamLimit[] = "stream-limit";
inline constexpr char kTooFewCalls[] = "too-few-calls";

struct NoticeCode {
  const char* code;
  const char* meaning;
};
// Every code, for the schema and the reference page.
const std::vector<NoticeCode>& WarningCodes();
const std::vector<NoticeCode>& NoteCodes();

// "client-cpu slots": the resources that are saturated by the notes of a point.
std::string SaturatedResources(const std::vector<Notice>& notes);
// "drift steal": each code once.
std::string Codes(const std::vector<Notice>& notices);

}  // namespace cqbench
