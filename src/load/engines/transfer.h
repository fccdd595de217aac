// How far a client- or server-streaming call has come, for every API.
#pragma once

#include "absl/strings/string_view.h"
#include "cqbench/recorder.h"
#include "src/load/engines/stub.h"
#include "src/workload/messages/write_options.h"

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
  // All must outlive it. `bytes`: nullptr where messages are not bytes.
  Transfer(const Stub& stub, const RunConfig& config, const BytesMethod* bytes)
      : stub_(stub), config_(config.message), bytes_(bytes), streams_chunks_(config.method.streams_chunks()) {}

  bool written() const { return place_ == ToWrite(); }
  // Index of the next request, from 0.
  int place() const { return place_; }
  // Before each write: whether it is the last one.
  bool IsLastWrite() { return ++place_ == ToWrite(); }

  // A message of those that there are many of has been written or read. One look at the clock where they are chunks.
  void Moved(Recorder& recorder) {
    if (!streams_chunks_) return;
    const Nanos now = NowNs();
    recorder.Message(now, moved_ns_ == 0 ? -1 : now - moved_ns_);
    moved_ns_ = now;
  }
  // A response has arrived, which may be one that cannot be read.
  void Took(const typename Stub::Response& response) {
    ++responses_;
    if (wrong_.empty()) wrong_ = CheckResponse(stub_, response, config_);
  }
  // Returns the defect of the response of a successful call; empty if it is right. `response`: the one that comes with
  // the end of a stream that is not read.
  absl::string_view WrongAtEnd(const typename Stub::Response& response) const {
    if constexpr (!kReads<Stub>) return CheckResponse(stub_, response, config_);
    if (!wrong_.empty()) return wrong_;
    return IsEnough() ? "" : "the server did not send as many responses as were asked for";
  }

 private:
  int ToWrite() const { return Stub::kShape == Shape::kClientStreaming ? config_.stream_messages : 1; }
  bool IsEnough() const {
    if (Stub::kShape != Shape::kServerStreaming) return responses_ == 1;
    if (bytes_ != nullptr) return !bytes_->responses || responses_ == *bytes_->responses;
    return responses_ == config_.stream_messages;
  }

  const Stub& stub_;
  const MessageConfig& config_;
  const BytesMethod* const bytes_;
  const bool streams_chunks_;
  int place_ = 0;
  int responses_ = 0;
  Nanos moved_ns_ = 0;  // when the last one did
  absl::string_view wrong_;
};

}  // namespace cqbench
