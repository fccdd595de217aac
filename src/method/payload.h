// The bytes of payloads: the same for the same kind and seed on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cqbench/run_config.h"

namespace cqbench {

// Bytes in the range of a block of 64 KiB, repeated: more than deflate's window of 32 KiB, so that random payloads do
// not compress however long they are. Text is words of a few letters with spaces, some 4 to 5 bits a byte.
class PayloadSource {
 public:
  PayloadSource(PayloadKind kind, uint64_t seed);

  // Makes `payload` the first `size` bytes. What has that size and begins as it should is taken to come from here and
  // stays: a message that is used again is filled once, unless another kind or seed is asked for.
  void Fill(std::string* payload, size_t size) const {
    if (payload->size() != size || !Begins(*payload)) Write(payload, size);
  }
  // Whether the payload begins, and ends, as one of its size from here does. It takes no longer for a larger one.
  bool HasEnds(const std::string& payload) const;
  // Copies the first `size` bytes.
  void Copy(char* to, size_t size) const;

 private:
  // Blocks of different kinds or seeds differ in their first bytes.
  bool Begins(const std::string& payload) const {
    return payload.compare(0, 8, block_, 0, std::min<size_t>(8, payload.size())) == 0;
  }
  void Write(std::string* payload, size_t size) const;
  std::string block_;
};

// Made once for each kind and seed that is asked for; never destroyed. Any thread.
const PayloadSource& PayloadOf(PayloadKind kind, uint64_t seed);

}  // namespace cqbench
