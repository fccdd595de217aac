#include "src/observe/evidence/cpu_meter.h"

#include "absl/strings/str_cat.h"
#include "src/observe/control/plausible.h"
#include "src/observe/evidence/stream_report.h"
#include "src/observe/sampling/take_sample.h"

namespace cqbench {
namespace {

void SetCores(absl::string_view name, const Sample& begin, const Sample& end, Figures& figures) {
  const auto length = static_cast<double>(end.taken_at_ns() - begin.taken_at_ns());
  if (length <= 0) return;
  const auto used = [](const Sample& sample) {
    return static_cast<double>(sample.process().user_ns() + sample.process().system_ns());
  };
  figures.Set(name, (used(end) - used(begin)) / length);
}

// The server may be untrusted.
void SetServerCores(const ServerMoment& begin, const ServerMoment& end, PointResult& point) {
  if (const absl::Status valid = ValidateSamples(begin, end, 1); !valid.ok()) {
    point.notes.push_back({kNotMeasured, absl::StrCat("server: ", NoteOfRefusal(valid))});
    return;
  }
  SetCores("server_cores_used", begin.sample, end.sample, point.figures);
}

}  // namespace

CpuMeter::CpuMeter(ControlClients* servers)
    : servers_(servers != nullptr && servers->Connect() ? servers : nullptr),
      server_(Ask()),
      here_(SampleOfProcess()) {}

ControlClients::Moments CpuMeter::Ask() {
  return servers_ == nullptr ? ControlClients::Moments() : servers_->SampleAll(std::nullopt).get();
}

void CpuMeter::Report(uint64_t payload_bytes, PointResult& point) {
  const Sample here = SampleOfProcess();
  const ControlClients::Moments server = Ask();
  if (servers_ != nullptr) servers_->Disconnect();
  if (point.completed == 0 || point.window_ns <= 0) return;
  point.figures.Set("payload_bytes_per_second", point.ThroughputPerSecond() * static_cast<double>(payload_bytes));
  SetCores("client_cores_used", here_, here, point.figures);
  if (!server_.empty() && !server.empty()) SetServerCores(server_[0], server[0], point);
  ReportCoresPerGbit(point);
}

}  // namespace cqbench
