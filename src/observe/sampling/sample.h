// A process's running totals at one moment, as the control service sends them: proto/control.proto says what each field
// is. The difference of two samples is what happened between them, whichever process took them.
#pragma once

#include "cqbench/proto/control.pb.h"
#include "src/base/clock.h"
#include "src/observe/allocations/allocations.h"

namespace cqbench {

using control::v1::ConnectionSample;
using control::v1::CpuSample;
using control::v1::ProcessSample;
using control::v1::Sample;
using control::v1::ThreadSample;

// A list of ThreadSample, CpuSample or ConnectionSample, as a Sample has it.
template <typename T>
using SampleList = google::protobuf::RepeatedPtrField<T>;

// Both ways between a sample and the counts of this process. A sample without counts has counts of 0.
inline AllocationCounts CountsOf(const Sample& sample) {
  const control::v1::Allocations& counts = sample.allocations();
  return {counts.allocations(), counts.bytes(), counts.freed_elsewhere()};
}
inline void SetCounts(const AllocationCounts& counts, Sample& sample) {
  control::v1::Allocations& into = *sample.mutable_allocations();
  into.set_allocations(counts.allocations);
  into.set_bytes(counts.bytes);
  into.set_freed_elsewhere(counts.freed_elsewhere);
}

}  // namespace cqbench
