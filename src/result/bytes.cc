#include "src/result/bytes.h"

namespace cqbench {

void ByteWriter::operator()(const Histogram& histogram) {
  std::vector<std::pair<size_t, uint64_t>> buckets;
  size_t next = 0;
  histogram.ForEachBucket([&](size_t index, uint64_t count) {
    buckets.emplace_back(index - next, count);
    next = index + 1;
  });
  (*this)(buckets);
  if (buckets.empty()) return;
  (*this)(histogram.Sum());
  (*this)(histogram.Min());
  (*this)(histogram.Max());
}

void ByteReader::operator()(Histogram& histogram) {
  std::vector<std::pair<size_t, uint64_t>> buckets;
  (*this)(buckets);
  if (buckets.empty()) return;
  size_t next = 0;
  for (auto& [index, count] : buckets) {
    ok_ = ok_ && index < Histogram::kBuckets;
    index += next;
    next = index + 1;
  }
  uint64_t sum = 0;
  Nanos min = 0, max = 0;
  (*this)(sum);
  (*this)(min);
  (*this)(max);
  ok_ = ok_ && histogram.Assign(buckets, sum, min, max);
}

uint64_t ByteReader::Number() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return ok_ ? value : 0;
  }
  ok_ = false;
  return 0;
}

size_t ByteReader::Size() {
  const uint64_t size = Number();
  ok_ = ok_ && size <= left_.size();
  return ok_ ? static_cast<size_t>(size) : 0;
}

bool ByteReader::Present() {
  bool present = false;
  (*this)(present);
  return ok_ && present;
}

}  // namespace cqbench
