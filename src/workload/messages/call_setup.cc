#include "src/workload/messages/call_setup.h"

#include <algorithm>
#include <cstddef>

#include "src/channel/compression.h"
#include "src/workload/messages/payload.h"

namespace cqbench {
namespace {

// ASCII that no end takes for something else, or bytes of any value.
std::string FirstValue(const GeneratedMetadata& metadata) {
  std::string value(metadata.value_bytes, '\0');
  if (metadata.binary) {
    PayloadOf(PayloadKind::kRandom, 1).Copy(value.data(), value.size());
  } else {
    for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>('a' + i % 26);
  }
  return value;
}

}  // namespace

CallSetup::CallSetup(const RunConfig& config, int slots) : config_(config) {
  const GeneratedMetadata& made = config.generated_metadata;
  for (int i = 0; i < made.entries; ++i) keys_.push_back(GeneratedKey(made, i));
  value_ = FirstValue(made);
  if (made.changing) changing_.resize(static_cast<size_t>(slots));
  for (size_t i = 0; i < changing_.size(); ++i) changing_[i] = {value_, i << 32};
  needed_ = !keys_.empty() || !config.metadata.empty() || config.compression.per_call || config.wait_for_ready ||
            config.write_hint == WriteHint::kCorked;
}

void CallSetup::Apply(grpc::ClientContext& context, int slot) {
  if (config_.write_hint == WriteHint::kCorked) context.set_initial_metadata_corked(true);
  if (config_.wait_for_ready) context.set_wait_for_ready(true);
  if (config_.compression.per_call) context.set_compression_algorithm(AlgorithmOf(config_.compression.algorithm));
  for (const Metadata& each : config_.metadata) context.AddMetadata(each.key, each.value);
  if (keys_.empty()) return;
  const std::string& value = changing_.empty() ? value_ : NextValue(slot);
  for (const std::string& key : keys_) context.AddMetadata(key, value);
}

// A number that no other call has, as far as it fits, in the last bytes.
const std::string& CallSetup::NextValue(int slot) {
  static constexpr char kDigits[] = "0123456789abcdef";
  Changing& next = changing_[static_cast<size_t>(slot)];
  uint64_t number = ++next.number;
  const size_t digits = std::min<size_t>(next.value.size(), 16);
  for (size_t i = 0; i < digits; ++i, number >>= 4)
    *(next.value.rbegin() + static_cast<ptrdiff_t>(i)) = kDigits[number & 15];
  return next.value;
}

}  // namespace cqbench
