// A rank's report of a point: if it can be read, it is written as bytes with the same meaning, and two reports merge.
#include <string>

#include "src/ranks/rank_merge.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cqbench;
  const std::string input(fuzz::Text(data, size));
  const auto report = DecodeRankReport(input);
  if (!report.ok()) return 0;
  const std::string bytes = EncodeRankReport(report->point, report->measurement, report->setting);
  const auto again = DecodeRankReport(bytes);
  fuzz::Require(again.ok(), "a report that was written can be read");
  fuzz::Require(EncodeRankReport(again->point, again->measurement, again->setting) == bytes, "it reads back");
  RankSetting setting;
  const PointResult merged = MergeRanks({input, input}, {}, setting);
  fuzz::Require(merged.ranks && merged.ranks->count == 2, "a report that can be read can be merged");
  return 0;
}
