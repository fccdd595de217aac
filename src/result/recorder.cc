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
  data_.slice_ns = window->slice_ns();
  data_.slices.resize(static_cast<size_t>(window->slices()));
}

// The remainder of the window after the last whole time bucket belongs to the last bucket.
Slice* Recorder::MoveTo(Nanos t) {
  if (t >= slice_begins_ && t < slice_ends_) return slice_;
  const Nanos open = window_->open_ns();
  slice_begins_ = open;
  slice_ends_ = window_->close_ns();
  if (data_.slices.empty()) return nullptr;
  const size_t last = data_.slices.size() - 1;
  const size_t i = std::min(static_cast<size_t>((t - open) / data_.slice_ns), last);
  slice_begins_ = open + static_cast<Nanos>(i) * data_.slice_ns;
  if (i < last) slice_ends_ = slice_begins_ + data_.slice_ns;
  slice_ = &data_.slices[i];
  return slice_;
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
      if (Slice* slice = MoveTo(call.due_ns)) slice->latency.Record(call.done_ns - call.due_ns);
    }
  }
  NoteEnd(call.done_ns);
  if (!window_->Contains(call.done_ns)) {
    if (call.done_ns < window_->open_ns()) {
      completed_before_.store(completed_before_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    return false;
  }
  if (Slice* slice = MoveTo(call.done_ns)) ++slice->completed;
  CountCompleted();
  return true;
}

void Recorder::Failure(const CallTimes& call, int code, absl::string_view message) {
  if (!window_->Owns(call.due_ns, call.done_ns)) return;
  CountSpanning(call.due_ns);
  ++data_.counts.failed;
  data_.failures.Add(code, message);
  if (!window_->Contains(call.done_ns)) return;
  if (Slice* slice = MoveTo(call.done_ns)) ++slice->failed[OutcomeIndex(code)];
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

void Recorder::Looked(Nanos due_ns, Nanos looked_ns, int64_t outstanding) {
  if (!window_->Contains(due_ns)) return;
  Pacing& pacing = *data_.pacing;
  pacing.lateness.Record(looked_ns - due_ns);
  const bool second = due_ns - window_->open_ns() >= window_->close_ns() - due_ns;
  Pacing::Outstanding& half = pacing.outstanding[second ? 1 : 0];
  half.sum += static_cast<double>(outstanding);
  ++half.looks;
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
