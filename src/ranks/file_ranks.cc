#include "src/ranks/file_ranks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/observe/sampling/environment.h"
#include "src/ranks/wall_clock.h"

namespace cqbench {
namespace {

using Json = nlohmann::json;

constexpr Nanos kPollEvery = 5 * kNanosPerMilli;
constexpr Nanos kLeadBetweenMachines = 5 * kNanosPerSecond;

uint64_t RandomToken() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

class FileRanks : public Ranks {
 public:
  FileRanks(const RankId& id, std::string folder, Nanos patience_ns)
      : id_(id), folder_(std::move(folder)), patience_ns_(patience_ns) {}

  absl::Status Begin() {
    const std::string name = absl::StrCat("begun-", id_.index, ".json");
    if (!Exists(name)) return Write(name, Self());
    return absl::FailedPreconditionError(
        absl::StrCat("'", folder_, "' has '", name, "' of another run: give each run a folder of its own"));
  }

  RankId id() const override { return id_; }

  absl::StatusOr<RankWindow> Agree(const RankPlan& plan, Interrupt& interrupt) override {
    ++point_;
    agreeing_ = true;
    wall_ = ProbeWallClock();
    error_ns_ = WallClockError();
    return id_.index == 0 ? Announce(plan, interrupt) : Follow(plan, interrupt);
  }

  void Miss(absl::string_view why) override {
    if (!agreeing_) ++point_;
    agreeing_ = false;
    Write(Name("missing", point_, id_.index), {{"why", std::string(why)}}).IgnoreError();
  }

  // Files are too slow to look at another's clock through. On one machine both clocks are the same one, with another
  // beginning at most; of others nothing can be told.
  RankClock Compare() override {
    agreeing_ = false;
    RankClock clock{offset_ns_, bound_ns_, std::nullopt};
    if (same_machine_) clock.drift_ns_per_s = 0;
    return clock;
  }

  void Leave() override { Write(Left(id_.index), Json::object()).IgnoreError(); }

 private:
  static std::string Name(absl::string_view what, int point, int rank) {
    return absl::StrCat(what, "-", point, "-", rank, ".json");
  }
  static std::string Left(int rank) { return absl::StrCat("left-", rank, ".json"); }
  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }
  bool Exists(const std::string& name) const { return access(Path(name).c_str(), F_OK) == 0; }

  absl::Status Write(const std::string& name, const Json& json) const {
    const std::string temporary = absl::StrCat(Path(name), ".", token_, ".tmp");
    std::ofstream file(temporary, std::ios::binary);
    file << json.dump(-1, ' ', false, Json::error_handler_t::replace);
    file.close();
    if (file && rename(temporary.c_str(), Path(name).c_str()) == 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("cannot write '", Path(name), "': ", std::strerror(errno)));
  }
  // Discarded: not there.
  Json Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    if (!file) return Json(Json::value_t::discarded);
    return Json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  // The identity that every rank writes into its files.
  Json Self() const { return {{"token", token_}, {"boot_id", BootId()}}; }

  absl::StatusOr<RankWindow> Announce(const RankPlan& plan, Interrupt& interrupt) {
    RankPlan widest = plan;
    std::vector<uint64_t> tokens;
    bool one_machine = true;
    const Nanos give_up = NowNs() + patience_ns_;
    for (int rank = 1; rank < id_.count; ++rank) {
      const Json ready = Await(rank, give_up, interrupt);
      if (interrupt.Pending()) return absl::CancelledError("interrupted before the others were there");
      if (!ready.is_object()) continue;
      tokens.push_back(ready.value("token", uint64_t{0}));
      widest.lead_ns = std::max(widest.lead_ns, ready.value("lead_ns", Nanos{0}));
      one_machine = one_machine && ready.value("boot_id", "") == BootId();
    }
    offset_ns_ = bound_ns_ = 0;
    same_machine_ = true;
    const Nanos start = NowNs() + (one_machine ? kLead : kLeadBetweenMachines) + widest.lead_ns;
    const RankWindow window{start, start + plan.warmup_ns, start + plan.warmup_ns + plan.interval_ns};
    Json json = Self();
    json["start_ns"] = window.start_ns;
    json["open_ns"] = window.open_ns;
    json["close_ns"] = window.close_ns;
    json["wall_offset_ns"] = wall_.offset_ns;
    json["wall_bound_ns"] = wall_.bound_ns;
    json["wall_error_ns"] = error_ns_;
    json["tokens"] = tokens;
    const absl::Status written = Write(absl::StrCat("window-", point_, ".json"), json);
    if (!written.ok()) return absl::FailedPreconditionError(written.message());
    return window;
  }

  // Waits for the file of a ready rank; null if the rank is given up.
  Json Await(int rank, Nanos give_up, Interrupt& interrupt) {
    if (given_up_.contains(rank)) return {};
    for (;;) {
      if (Json ready = Read(Name("ready", point_, rank)); ready.is_object()) return ready;
      if (Exists(Name("missing", point_, rank))) return {};
      const bool gone = Exists(Left(rank));
      if (gone || NowNs() >= give_up) {
        given_up_.insert(rank);
        return {};
      }
      if (interrupt.SleepUntil(NowNs() + kPollEvery)) return {};
    }
  }

  absl::StatusOr<RankWindow> Follow(const RankPlan& plan, Interrupt& interrupt) {
    Json ready = Self();
    ready["lead_ns"] = plan.lead_ns;
    const absl::Status written = Write(Name("ready", point_, id_.index), ready);
    if (!written.ok()) return absl::FailedPreconditionError(written.message());
    // Rank 0 may have waited for so long already when it begins to wait for another.
    const Nanos give_up = NowNs() + 2 * patience_ns_;
    for (;;) {
      const Json window = Read(absl::StrCat("window-", point_, ".json"));
      if (window.is_object()) return Take(window);
      if (Exists(Name("missing", point_, 0)) || Exists(Left(0))) {
        return absl::FailedPreconditionError("rank 0 does not measure this point, so nobody says when it begins");
      }
      if (NowNs() >= give_up) {
        return absl::FailedPreconditionError(
            absl::StrCat("rank 0 has announced no window within ", ToSeconds(2 * patience_ns_), " s (--rank-timeout)"));
      }
      if (interrupt.SleepUntil(NowNs() + kPollEvery))
        return absl::CancelledError("interrupted before rank 0 was there");
    }
  }

  absl::StatusOr<RankWindow> Take(const Json& window) {
    const auto tokens = window.value("tokens", std::vector<uint64_t>());
    if (std::find(tokens.begin(), tokens.end(), token_) == tokens.end()) {
      return absl::FailedPreconditionError("rank 0 has begun without this rank, which came too late (--rank-timeout)");
    }
    const auto number = [&](const char* key) { return window.value(key, Nanos{0}); };
    same_machine_ = window.value("boot_id", "") == BootId();
    offset_ns_ = wall_.offset_ns - number("wall_offset_ns");
    bound_ns_ = wall_.bound_ns + number("wall_bound_ns");
    if (!same_machine_) bound_ns_ += error_ns_ + number("wall_error_ns");
    return RankWindow{number("start_ns") - offset_ns_, number("open_ns") - offset_ns_, number("close_ns") - offset_ns_};
  }

  const RankId id_;
  const std::string folder_;
  const Nanos patience_ns_;
  const uint64_t token_ = RandomToken();
  int point_ = 0;
  bool agreeing_ = false;  // the point has been begun, though not agreed on
  std::set<int> given_up_;
  ClockOffset wall_;
  Nanos error_ns_ = 0;  // of the wall clock
  Nanos offset_ns_ = 0;
  Nanos bound_ns_ = 0;
  bool same_machine_ = true;  // as rank 0
};

}  // namespace

absl::StatusOr<std::unique_ptr<Ranks>> MakeFileRanks(const RankId& id, const std::string& folder, Nanos patience_ns) {
  auto ranks = std::make_unique<FileRanks>(id, folder, patience_ns);
  if (const absl::Status begun = ranks->Begin(); !begun.ok()) return begun;
  return ranks;
}

}  // namespace cqbench
