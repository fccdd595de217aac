// What another rank sent: a measurement that is read is written as bytes that mean the same, and adds up with itself.
#include "src/core/bytes.h"
#include "src/core/measurement_bytes.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cqbench;
  // Which buckets they have comes first; without the right number nothing else is looked at.
  ByteWriter head;
  head(HistogramLayoutHash());
  const auto measurement = MeasurementFromBytes(head.Take().append(reinterpret_cast<const char*>(data), size));
  if (!measurement.ok()) return 0;
  const std::string bytes = MeasurementToBytes(*measurement);
  const auto again = MeasurementFromBytes(bytes);
  fuzz::Require(again.ok() && MeasurementToBytes(*again) == bytes, "a measurement reads back");
  Measurement sum = *MeasurementFromBytes(bytes);
  sum.Merge(*again);
  return 0;
}
