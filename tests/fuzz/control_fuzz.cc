// What a server's control service answers: samples that are not refused give figures that are numbers.
#include <algorithm>
#include <cmath>

#include "src/observe/control/codec.h"
#include "src/observe/control/plausible.h"
#include "src/observe/sampling/sample_figures.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace cqbench;

// False where it is no message, or has a histogram that cannot be.
bool Read(const uint8_t* data, size_t size, ServerMoment& moment) {
  control::v1::ServerSample sample;
  if (!sample.ParseFromArray(data, static_cast<int>(size))) return false;
  if (sample.has_call_times()) {
    const control::v1::Histogram& handling = sample.call_times().handling();
    if (!WhyImpossible(handling).empty()) return false;
    moment.handling = FromProto(handling);
  }
  moment.sample = FromProto(sample);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t first = std::min(data[0] + size_t{256} * data[1], size - 2);
  ServerMoment begin, end;
  if (!Read(data + 2, first, begin) || !Read(data + 2 + first, size - 2 - first, end)) return 0;
  const std::string why = WhyImpossible(begin, end, 1);
  fuzz::Require(std::none_of(why.begin(), why.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }),
                "the reason is one clean line");
  if (!why.empty()) return 0;
  Figures figures;
  const Measured measured{kNanosPerSecond, 1000, 1};
  AddCpuFigures("server", begin.sample, end.sample, measured, figures);
  AddProcessFigures("server", begin.sample, end.sample, measured, figures);
  AddConnectionFigures("server", begin.sample, end.sample, measured, figures);
  AddAllocationFigures("server", begin.sample, end.sample, measured.completed, figures);
  AddServerFigures(begin.sample, end.sample, measured, figures);
  for (const auto& [name, value] : figures) fuzz::Require(std::isfinite(value), name.c_str());
  return 0;
}
