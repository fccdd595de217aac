#include "cqbench/recorder.h"

#include <algorithm>

namespace cqbench {
namespace {

void RecordInto(std::unique_ptr<Histogram>& histogram, Nanos value_ns) {
  if (!histogram) histogram = std::make_unique<Histogram>();
  histogram->Record(value_ns);
}

}  // namespace

Recorder::Recorder(const RunWindow* window, bool open_loop) : window_(window) {
  if (open_loop) {
    data_.from_sent = std::make_unique<Histogram>();
    data_.pacing = std::make_unique<Pacing>();
  }
  data_.bucket_ns = window->bucket_ns();
  data_.time_buckets.resize(static_cast<size_t>(window->time_buckets()));
}

// The remainder of the window after the last whole time bucket belongs to the last bucket.
TimeBucket* Recorder::MoveTo(Nanos t) {
  if (t >= bucket_begins_ && t < bucket_ends_) return bucket_;
  const Nanos open = window_->open_ns();
  bucket_begins_ = open;
  bucket_ends_ = window_->close_ns();
  if (data_.time_buckets.empty()) return nullptr;
  const size_t last = data_.time_buckets.size() - 1;
  const size_t i = std::min(static_cast<size_t>((t - open) / data_.bucket_ns), last);
  bucket_begins_ = open + static_cast<Nanos>(i) * data_.bucket_ns;
  if (i < last) bucket_ends_ = bucket_begins_ + data_.bucket_ns;
  bucket_ = &data_.time_buckets[i];
  return bucket_;
}

void Recorder::NoteEnd(Nanos done) {
  if (done >= window_->open_ns()) data_.first_end_ns = std::min(data_.first_end_ns, done);
  if (window_->IsOver(done)) data_.first_end_after_ns = std::min(data_.first_end_after_ns, done);
}

bool Recorder::SuccessElsewhere(const CallTimes& call) {
  if (window_->Owns(call.due_ns, call.done_ns)) {
    CountSpanning(call.due_ns);
    RecordLatencies(call);
    if (window_->Contains(call.due_ns)) {
      if (TimeBucket* bucket = MoveTo(call.due_ns)) bucket->latency.Record(call.done_ns - call.due_ns);
    }
  }
  NoteEnd(call.done_ns);
  if (!window_->Contains(call.done_ns)) {
    if (call.done_ns < window_->open_ns()) {
      completed_before_.store(completed_before_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    return false;
  }
  if (TimeBucket* bucket = MoveTo(call.done_ns)) ++bucket->completed;
  CountCompleted();
  return true;
}

void Recorder::Failure(const CallTimes& call, int code, absl::string_view message) {
  failed_.store(failed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (!window_->Owns(call.due_ns, call.done_ns)) return;
  CountSpanning(call.due_ns);
  ++data_.counts.failed;
  data_.failures.Add(code, message);
  if (!window_->Contains(call.done_ns)) return;
  if (TimeBucket* bucket = MoveTo(call.done_ns)) ++bucket->failed[OutcomeIndex(code)];
}

void Recorder::Unfinished(const CallTimes& call) {
  if (!window_->Owns(call.due_ns, call.done_ns)) return;
  CountSpanning(call.due_ns);
  ++data_.counts.unfinished;
  RecordInto(data_.at_least, call.done_ns - call.due_ns);
  if (data_.from_sent) RecordInto(data_.at_least_from_sent, call.done_ns - call.sent_ns);
}

void Recorder::Unsent(Nanos due_ns, Nanos gave_up_ns) {
  if (!window_->Owns(due_ns, gave_up_ns)) return;
  if (due_ns < window_->open_ns()) ++data_.counts.due;  // the others are counted from the schedule
  ++data_.counts.unsent;
  RecordInto(data_.at_least, gave_up_ns - due_ns);
}

void Recorder::Dropped(Nanos due_ns) {
  if (window_->Contains(due_ns)) ++data_.counts.dropped;
}

void Recorder::SampledPacer(Nanos due_ns, Nanos sampled_ns, int64_t outstanding) {
  if (!window_->Contains(due_ns)) return;
  Pacing& pacing = *data_.pacing;
  pacing.lateness.Record(sampled_ns - due_ns);
  const bool second = due_ns - window_->open_ns() >= window_->close_ns() - due_ns;
  Pacing::Outstanding& half = pacing.outstanding[second ? 1 : 0];
  half.sum += static_cast<double>(outstanding);
  ++half.samples;
}

void Recorder::Burst(Nanos now, uint64_t calls) {
  if (window_->Contains(now)) data_.pacing->largest_burst = std::max(data_.pacing->largest_burst, calls);
}

void Recorder::GotSlot(Nanos due_ns, Nanos waited_ns) {
  if (window_->Contains(due_ns)) data_.pacing->slot_wait.Record(waited_ns);
}

void Recorder::Parts(Nanos due_ns, Nanos issue_ns, Nanos wait_ns) {
  if (!data_.parts) data_.parts = std::make_unique<PartTimes>();
  if (!window_->Contains(due_ns)) return;
  data_.parts->issue.Record(issue_ns);
  if (wait_ns >= 0) data_.parts->wait.Record(wait_ns);
}

void Recorder::Message(Nanos moved_ns, Nanos gap_ns) {
  if (!window_->Contains(moved_ns)) return;
  if (!data_.messages) data_.messages = std::make_unique<MessageTimes>();
  ++data_.messages->messages;
  if (gap_ns >= 0) data_.messages->gaps.Record(gap_ns);
}

void Recorder::MergeInto(Measurement& total) const {
  total.Merge(data_);
  total.counts.ok += data_.latency.Count();
  total.completed += Completed();
}

}  // namespace cqbench
