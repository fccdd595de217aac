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

// Identities of CPUs and so on are below these numbers. In a sample that sums up several machines or servers, each of
// them has its own range of this size.
inline constexpr int kCpuIds = 100'000;
inline constexpr int kThreadIds = 1 << 24;  // the kernel's limit is 2^22
inline constexpr uint64_t kConnectionIds = uint64_t{1} << 48;

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
