// How far a client- or server-streaming call has come, for every API.
#pragma once

#include "absl/strings/string_view.h"
#include "src/client/stub.h"

namespace cqbench {

// Which operations the stream of a stub has. Those of the generic stub have both.
template <typename Stub>
inline constexpr bool kWrites = Stub::kStream != Shape::kServerStreaming;
template <typename Stub>
inline constexpr bool kReads = Stub::kStream != Shape::kClientStreaming;

// One thread at a time. A stream that writes is given as many requests as the method has, one that reads is read until
// it ends.
template <typename Stub>
class Transfer {
 public:
  explicit Transfer(const MessageConfig& config)
      : config_(config), to_write_(Stub::kShape == Shape::kClientStreaming ? config.stream_messages : 1) {}

  bool written() const { return to_write_ == 0; }
  // Before each write: whether it is the last one.
  bool IsLastWrite() { return --to_write_ == 0; }

  // A response has been read.
  void Took(const typename Stub::Response& response) {
    ++responses_;
    if (wrong_.empty()) wrong_ = Stub::Check(response, config_);
  }
  // What is wrong with the answer of a call that has ended well; empty when nothing is. `response`: the one that comes
  // with the end of a stream that is not read.
  absl::string_view WrongAtEnd(const typename Stub::Response& response) const {
    if constexpr (!kReads<Stub>) return Stub::Check(response, config_);
    if (!wrong_.empty()) return wrong_;
    const int expected = Stub::kShape == Shape::kServerStreaming ? config_.stream_messages : 1;
    return responses_ == expected ? "" : "the server did not send as many responses as were asked for";
  }

 private:
  const MessageConfig& config_;
  int to_write_;
  int responses_ = 0;
  absl::string_view wrong_;
};

}  // namespace cqbench
