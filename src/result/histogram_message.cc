#include "src/result/histogram_message.h"

#include <algorithm>

namespace cqbench {

void ToMessage(const Histogram& histogram, control::v1::Histogram& message) {
  histogram.ForEach([&](Nanos value, uint64_t count) {
    message.add_value_ns(value);
    message.add_count(count);
  });
}

Histogram FromMessage(const control::v1::Histogram& message) {
  Histogram histogram;
  for (int i = 0; i < std::min(message.value_ns_size(), message.count_size()); ++i) {
    if (message.count(i) > 0) histogram.Record(message.value_ns(i), message.count(i));
  }
  return histogram;
}

}  // namespace cqbench
