#include "src/result/measurement_bytes.h"

#include "absl/strings/str_cat.h"
#include "src/result/bytes.h"

namespace cqbench {

template <class Archive, Like<Pacing::Outstanding> T>
void Fields(Archive& archive, T& half) {
  archive(half.sum);
  archive(half.looks);
}

template <class Archive, Like<Pacing> T>
void Fields(Archive& archive, T& pacing) {
  archive(pacing.lateness);
  archive(pacing.slot_wait);
  archive(pacing.largest_burst);
  archive(pacing.outstanding);
  archive(pacing.pacers);
  archive(pacing.margin_ns);
}

template <class Archive, Like<CallCounts> T>
void Fields(Archive& archive, T& counts) {
  archive(counts.due);
  archive(counts.sent);
  archive(counts.dropped);
  archive(counts.unsent);
  archive(counts.ok);
  archive(counts.failed);
  archive(counts.unfinished);
}

template <class Archive, Like<Measurement> T>
void Fields(Archive& archive, T& m) {
  archive(m.window_ns);
  archive(m.completed);
  archive(m.counts);
  archive(m.latency);
  archive(m.from_sent);
  archive(m.at_least);
  archive(m.at_least_from_sent);
  archive(m.failures.count);
  archive(m.failures.first_message);
  archive(m.pacing);
  archive(m.schedule_hash);
  archive(m.completed_per_slot);
}

// FNV-1a (Fowler, Noll and Vo) over the upper end of every bucket.
uint64_t HistogramLayoutHash() {
  static const uint64_t kHash = [] {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < Histogram::kBuckets; ++i) {
      hash ^= static_cast<uint64_t>(Histogram::HighestValueOf(i));
      hash *= 0x100000001b3;
    }
    return hash;
  }();
  return kHash;
}

std::string MeasurementToBytes(const Measurement& measurement) {
  ByteWriter writer;
  writer(HistogramLayoutHash());
  writer(measurement);
  return writer.Take();
}

absl::StatusOr<Measurement> MeasurementFromBytes(absl::string_view bytes) {
  ByteReader reader(bytes);
  uint64_t layout = 0;
  reader(layout);
  if (reader.ok() && layout != HistogramLayoutHash()) {
    return absl::FailedPreconditionError(
        absl::StrCat("its histograms have the layout ", absl::Hex(layout), ", ours ", absl::Hex(HistogramLayoutHash()),
                     ": counts of different buckets cannot be added, all ranks must be of one build"));
  }
  Measurement measurement;
  reader(measurement);
  if (reader.AtEnd()) return measurement;
  return absl::InvalidArgumentError("what it measured cannot be read: it was damaged, or it is of another build");
}

}  // namespace cqbench
