// A rank's report of a point: if it can be read, it is written as bytes with the same meaning, and two reports merge.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/ranks/rank_merge.h"
#include "src/result/bytes.h"
#include "src/result/measurement_bytes.h"
#include "tests/fuzz/fuzz.h"

namespace {

// Which buckets the histograms have comes first; without the right number nothing else is looked at. Two bytes of the
// input say how much of it is the measurement.
std::string Report(absl::string_view input) {
  size_t size = 0;
  for (size_t i = 0; i < std::min<size_t>(input.size(), 2); ++i)
    size |= size_t{static_cast<uint8_t>(input[i])} << 8 * i;
  input.remove_prefix(std::min<size_t>(input.size(), 2));
  size = std::min(size, input.size());
  cqbench::ByteWriter layout, measurement;
  layout(cqbench::HistogramLayoutHash());
  measurement(absl::StrCat(layout.Take(), input.substr(0, size)));
  return absl::StrCat(measurement.Take(), input.substr(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cqbench;
  const std::string told = Report(fuzz::Text(data, size));
  const auto report = DecodeRankReport(told);
  if (!report.ok()) return 0;
  const std::string bytes = MeasurementToBytes(report->measurement);
  const auto again = MeasurementFromBytes(bytes);
  fuzz::Require(again.ok() && MeasurementToBytes(*again) == bytes, "a measurement reads back");
  RankSetting setting;
  const PointResult merged = MergeRanks({told, told}, {}, setting);
  fuzz::Require(merged.ranks && merged.ranks->count == 2, "a report that can be read can be merged");
  return 0;
}
