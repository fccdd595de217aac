// Samples of a server's control service: the client either refuses them or makes figures that are numbers.
#include <algorithm>
#include <cmath>

#include "src/observe/control/plausible.h"
#include "src/observe/sampling/sample_figures.h"
#include "src/result/histogram_message.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace cqbench;

// False if the bytes are no message, or have a histogram that cannot be.
bool Read(const uint8_t* data, size_t size, ServerMoment& moment) {
  if (!moment.sample.ParseFromArray(data, static_cast<int>(size))) return false;
  const control::v1::Histogram& handling = moment.sample.call_times().handling();
  if (!ValidateHistogram(handling).ok()) return false;
  FromMessage(handling);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t first = std::min(data[0] + size_t{256} * data[1], size - 2);
  ServerMoment begin, end;
  if (!Read(data + 2, first, begin) || !Read(data + 2 + first, size - 2 - first, end)) return 0;
  const absl::Status valid = ValidateSamples(begin, end, 1);
  const auto why = valid.message();
  fuzz::Require(std::none_of(why.begin(), why.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }),
                "the reason is one clean line");
  if (!valid.ok()) return 0;
  Figures figures;
  const Measured measured{kNanosPerSecond, 1000, 1};
  AddCpuFigures(Side::kServer, begin.sample, end.sample, measured, figures);
  AddProcessFigures(Side::kServer, begin.sample, end.sample, measured, figures);
  AddConnectionFigures(Side::kServer, begin.sample, end.sample, measured, figures);
  AddAllocationFigures(Side::kServer, begin.sample, end.sample, measured.completed, figures);
  AddServerFigures(begin.sample, end.sample, measured, figures);
  for (const auto& [name, value] : figures) fuzz::Require(std::isfinite(value), name.c_str());
  return 0;
}
