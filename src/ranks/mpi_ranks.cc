#include "src/ranks/mpi_ranks.h"

#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/ranks/clock_offset.h"
#include "src/ranks/mpi_reports.h"

namespace cqbench {
namespace {

constexpr Nanos kSleep = 200 * kNanosPerMicro;
constexpr Nanos kShortSleep = 5 * kNanosPerMicro;
// Who has not asked for so long does something else, such as ending its calls.
constexpr Nanos kSilence = 2 * kNanosPerMilli;
// Once all have had the time to end their calls.
constexpr Nanos kSilenceOfOne = 2 * kNanosPerSecond;
// Ranks that look at rank 0's clock side by side: while one is on its way another is answered.
constexpr size_t kSideBySide = 16;
// The time that rank 0 needs to send the window to one rank.
constexpr Nanos kPerRank = 20 * kNanosPerMicro;

enum class Kind : int64_t {
  kReady,    // to 0: [lead]
  kMissing,  // to 0: no window for me this time
  kLeft,     // to 0, from 0: nor ever again
  kProbe,    // to 0: what is your time?
  kTime,     // from 0: [now]; the first one says that it is this rank's turn to look
  kEnough,   // to 0, from 0: no more probes
  kWindow,   // from 0: [start, open, close]
  kNone,     // from 0: there is no window this time
};
struct Message {
  Kind kind = Kind::kNone;
  std::array<int64_t, 3> values{};
};
constexpr int kWords = sizeof(Message) / sizeof(int64_t);

void Send(int to, Kind kind, std::array<int64_t, 3> values = {}) {
  const Message message{kind, values};
  MPI_Send(&message, kWords, MPI_INT64_T, to, 0, MPI_COMM_WORLD);
}

std::optional<Message> TryReceive(int from) {
  int there = 0;
  MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  if (there == 0) return std::nullopt;
  Message message;
  MPI_Recv(&message, kWords, MPI_INT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return message;
}

// Asleep. Absent when a signal came.
std::optional<Message> Receive(int from, Interrupt& interrupt, Nanos sleep = kSleep) {
  for (;;) {
    if (auto message = TryReceive(from)) return message;
    if (interrupt.SleepUntil(NowNs() + sleep)) return std::nullopt;
  }
}

// For probes: longer sleeps would make their way longer. Neither spinning nor yielding: on a busy machine who yields
// waits for whole slices of others, 10 ms there and back were seen, while who wakes up is run at once. Ends with the
// scope, because threads inherit the slack.
class ShortSleeps {
 public:
  ShortSleeps() : slack_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1); }
  ShortSleeps(const ShortSleeps&) = delete;
  ShortSleeps& operator=(const ShortSleeps&) = delete;
  ~ShortSleeps() { prctl(PR_SET_TIMERSLACK, slack_); }

 private:
  const int slack_;
};

class MpiRanksHere : public MpiRanks {
 public:
  explicit MpiRanksHere(Interrupt& interrupt) : interrupt_(interrupt), reports_(interrupt) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &id_.index);
    MPI_Comm_size(MPI_COMM_WORLD, &id_.count);
    left_.resize(static_cast<size_t>(id_.count));
  }

  RankId id() const override { return id_; }

  absl::StatusOr<RankWindow> Agree(const RankPlan& plan, Interrupt& /*the same*/) override {
    return id_.index == 0 ? Announce(plan) : Follow(plan);
  }

  void Miss(absl::string_view /*why*/) override {
    if (refused_) {  // the others know
      refused_ = false;
      return;
    }
    if (id_.index > 0) return Send(0, Kind::kMissing);
    for (int rank : Gather().ranks) Send(rank, Kind::kNone);
  }

  RankClock Compare() override {
    if (id_.index == 0) {
      ServeProbes(agreed_);
      return {0, 0, 0.0};
    }
    RankClock clock{first_.offset_ns, first_.bound_ns, std::nullopt};
    const auto turn = Receive(0, interrupt_);
    const auto last = turn && turn->kind == Kind::kTime ? Probe() : std::nullopt;
    // Less than the bounds is not known to be any.
    if (last && std::abs(last->offset_ns - first_.offset_ns) > first_.bound_ns + last->bound_ns) {
      clock.drift_ns_per_s = DriftPerSecond(first_, *last);
    }
    return clock;
  }

  std::vector<std::string> Collect(std::string told) override {
    if (id_.index > 0) {
      if (!left_[0] && !reports_.Send(std::move(told))) GiveUp(0);
      return {};
    }
    std::vector<std::string> all(static_cast<size_t>(id_.count));
    all[0] = std::move(told);
    std::vector<int> others;
    for (int rank = 1; rank < id_.count; ++rank) {
      if (!left_[static_cast<size_t>(rank)]) others.push_back(rank);
    }
    for (const int rank : reports_.Receive(others, all)) GiveUp(rank);
    return all;
  }

  void Leave() override {
    if (id_.index > 0) return Send(0, Kind::kLeft);
    for (int rank = 1; rank < id_.count; ++rank) Send(rank, Kind::kLeft);
  }

  bool HasLost() const override { return lost_; }

 private:
  struct Ready {
    std::vector<int> ranks;
    Nanos lead_ns = 0;  // the longest
  };

  void GiveUp(int rank) { left_[static_cast<size_t>(rank)] = lost_ = true; }

  // Everyone's reply to the question of who is ready; those of them before a signal came.
  Ready Gather() {
    Ready ready;
    for (int rank = 1; rank < id_.count; ++rank) {
      if (left_[static_cast<size_t>(rank)]) continue;
      const auto message = Receive(rank, interrupt_);
      if (!message) break;
      if (message->kind == Kind::kLeft) left_[static_cast<size_t>(rank)] = true;
      if (message->kind != Kind::kReady) continue;
      ready.ranks.push_back(rank);
      ready.lead_ns = std::max<Nanos>(ready.lead_ns, message->values[0]);
    }
    return ready;
  }

  absl::StatusOr<RankWindow> Announce(const RankPlan& plan) {
    const Ready ready = Gather();
    agreed_ = ready.ranks;
    ServeProbes(agreed_);
    if (interrupt_.Pending()) {
      refused_ = true;
      for (int rank : agreed_) Send(rank, Kind::kNone);
      return absl::CancelledError("interrupted before the others were ready");
    }
    const Nanos start = NowNs() + kLead + kPerRank * id_.count + std::max(plan.lead_ns, ready.lead_ns);
    const RankWindow window{start, start + plan.warmup_ns, start + plan.warmup_ns + plan.interval_ns};
    for (int rank : agreed_) Send(rank, Kind::kWindow, {window.start_ns, window.open_ns, window.close_ns});
    return window;
  }

  absl::StatusOr<RankWindow> Follow(const RankPlan& plan) {
    refused_ = true;  // unless it comes to a window
    Send(0, Kind::kReady, {plan.lead_ns});
    auto message = Receive(0, interrupt_);
    if (message && message->kind == Kind::kTime) {
      const auto offset = Probe();
      if (offset) first_ = *offset;
      message = offset ? Receive(0, interrupt_) : std::nullopt;
    }
    if (!message) return absl::CancelledError("interrupted before all ranks were ready");
    left_[0] = message->kind == Kind::kLeft;
    if (message->kind != Kind::kWindow) {
      return absl::FailedPreconditionError("rank 0 does not measure this point, so nobody says when it begins");
    }
    refused_ = false;
    return RankWindow{message->values[0] - first_.offset_ns, message->values[1] - first_.offset_ns,
                      message->values[2] - first_.offset_ns};
  }

  // Absent when a signal came here or at rank 0.
  std::optional<ClockOffset> Probe() {
    const ShortSleeps short_sleeps;
    std::vector<ClockProbe> probes;
    for (int i = 0; i < kClockProbes && !interrupt_.Pending(); ++i) {
      const Nanos before = NowNs();
      Send(0, Kind::kProbe);
      const auto reply = Receive(0, interrupt_, kShortSleep);
      if (!reply || reply->kind != Kind::kTime) return std::nullopt;
      probes.push_back({before, reply->values[0], NowNs()});
    }
    Send(0, Kind::kEnough);
    return probes.size() == kClockProbes ? EstimateOffset(probes) : std::nullopt;
  }

  void ServeProbes(const std::vector<int>& ranks) {
    const Nanos give_up = NowNs() + kLongestSilence;
    for (size_t i = 0; i < ranks.size(); i += kSideBySide) {
      const size_t end = std::min(ranks.size(), i + kSideBySide);
      ServeSideBySide({ranks.data() + i, ranks.data() + end}, give_up);
    }
  }

  void ServeSideBySide(std::vector<int> ranks, Nanos give_up) {
    for (int rank : ranks) Send(rank, Kind::kTime);  // it is this one's turn
    const auto is_done = [](int rank, Nanos& heard) {
      const auto message = TryReceive(rank);
      if (!message) return false;
      heard = NowNs();
      if (message->kind != Kind::kProbe) return true;
      Send(rank, Kind::kTime, {heard});
      return false;
    };
    const ShortSleeps short_sleeps;
    for (Nanos heard = NowNs(); !ranks.empty();) {
      const Nanos before = heard;
      std::erase_if(ranks, [&](int rank) { return is_done(rank, heard); });
      if (heard != before) continue;
      const Nanos now = NowNs();
      const bool stop = interrupt_.SleepUntil(now + (now - heard < kSilence ? kShortSleep : kSleep));
      if (!stop && (now < give_up || now - heard < kSilenceOfOne)) continue;
      for (int rank : ranks) {
        if (!stop) GiveUp(rank);
        Send(rank, Kind::kEnough);
      }
      return;
    }
  }

  RankId id_;
  Interrupt& interrupt_;
  bool refused_ = false;  // the point came to no window, and everyone knows
  bool lost_ = false;
  std::vector<bool> left_;  // who takes part no more; of others than rank 0, whether that does
  MpiReports reports_;
  std::vector<int> agreed_;  // of rank 0: who has the window
  ClockOffset first_;        // before the point
};

}  // namespace

std::unique_ptr<MpiRanks> MakeMpiRanks(Interrupt& interrupt) {
  return std::make_unique<MpiRanksHere>(interrupt);
}

}  // namespace cqbench
