#include "src/http/server/exchange.h"

#include <utility>

#include "src/http/server/session.h"
#include "src/http/server/status.h"

namespace cqbench {
namespace {

// Whose handler runs on this thread.
thread_local const HttpExchange* handling = nullptr;

// Memory that a large late response took is not kept.
constexpr size_t kKeptOfResponse = 64 << 10;

}  // namespace

bool Mailbox::Push(HttpExchange* exchange) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  waiting_.push_back(exchange);
  // Under the lock, so that the loop is there.
  if (waiting_.size() == 1) wake_();
  return true;
}

void Mailbox::Deliver() {
  {
    const std::lock_guard lock(mutex_);
    std::swap(waiting_, delivering_);
  }
  for (HttpExchange* exchange : delivering_) {
    Session* const session = exchange->Deliver();
    if (session == nullptr || session->touched) continue;
    session->touched = true;
    touched_.push_back(session);
  }
  delivering_.clear();
  for (Session* session : touched_) {
    session->touched = false;
    session->wire().Resume();
  }
  touched_.clear();
}

void Mailbox::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    std::swap(waiting_, delivering_);
  }
  for (HttpExchange* exchange : delivering_) exchange->Deliver();
  delivering_.clear();
}

void HttpExchange::Handle(const HttpHandler& handler, const HttpRequest& request) {
  const HttpExchange* const outer = std::exchange(handling, this);
  handler(request, HttpReply(this));
  handling = outer;
}

void HttpExchange::Send(const HttpHead& head, std::string_view body) {
  if (handling == this) {
    handling = nullptr;
    if (attached() != nullptr) OnResponse(head, body);
    OnReleased();
    return;
  }
  late_ = Late::kAnswer;
  late_status_ = head.status;
  late_type_.assign(head.content_type);
  late_field_name_.assign(head.field.name);
  late_field_value_.assign(head.field.value);
  late_body_.assign(body);
  if (!mailbox_->Push(this)) delete this;
}

void HttpExchange::SendUnanswered() {
  const HttpOwnResponse own = own_response_(kUnanswered, ReasonOf(kUnanswered));
  Send({kUnanswered, own.content_type, {}}, own.body);
}

void HttpExchange::Begin(int status, std::string_view content_type, std::function<void()> on_room) {
  growing_ = std::make_unique<Growing>();
  growing_->on_room = std::move(on_room);
  growing_->posted = true;
  late_ = Late::kBegin;
  late_status_ = status;
  late_type_.assign(content_type);
  if (mailbox_->Push(this)) return;
  growing_->posted = false;
  growing_->gone = true;
}

HttpStream::Result HttpExchange::Write(std::string_view chunk) {
  const std::lock_guard lock(growing_->mutex);
  if (growing_->gone) return HttpStream::Result::kGone;
  if (growing_->waiting.size() >= stream_buffer_bytes_) {
    growing_->wants_room = true;
    return HttpStream::Result::kFull;
  }
  growing_->waiting.append(chunk);
  if (growing_->posted) return HttpStream::Result::kTaken;
  growing_->posted = mailbox_->Push(this);
  growing_->gone = !growing_->posted;
  return growing_->gone ? HttpStream::Result::kGone : HttpStream::Result::kTaken;
}

void HttpExchange::Finish(bool whole) {
  {
    const std::lock_guard lock(growing_->mutex);
    growing_->ended = true;
    growing_->broken = !whole;
    // The loop may end the exchange as soon as the lock is free.
    if (growing_->posted) return;
    growing_->posted = true;
    if (mailbox_->Push(this)) return;
  }
  delete this;
}

Session* HttpExchange::Deliver() {
  Session* const session = attached();
  switch (std::exchange(late_, Late::kNothing)) {
    case Late::kAnswer:
      if (session != nullptr) {
        OnResponse({late_status_, late_type_, {late_field_name_, late_field_value_}}, late_body_);
      }
      if (late_body_.capacity() > kKeptOfResponse) std::string().swap(late_body_);
      OnReleased();
      return session;
    case Late::kBegin:
      began_ = true;
      if (session != nullptr) OnBegin(late_status_, late_type_);
      break;
    case Late::kNothing:
      break;
  }
  DeliverChunks();
  return session;
}

void HttpExchange::DeliverChunks() {
  Session* const session = attached();
  {
    const std::lock_guard lock(growing_->mutex);
    growing_->posted = false;
    if (session == nullptr) growing_->gone = true;
  }
  if (session != nullptr) {
    OnChunks();
    return;
  }
  std::string nobody;
  if (TakeChunks(nobody) != Stream::kGoesOn) OnReleased();
}

HttpExchange::Stream HttpExchange::TakeChunks(std::string& out) {
  bool tell = false;
  Stream stream = Stream::kGoesOn;
  {
    const std::lock_guard lock(growing_->mutex);
    out.append(growing_->waiting);
    growing_->waiting.clear();
    // A holder that has ended has pushed or will be looked at again because it is posted: only then is it gone.
    if (growing_->ended && !growing_->posted) stream = growing_->broken ? Stream::kBroken : Stream::kEnded;
    if (growing_->ended) growing_->wants_room = false;
    tell = std::exchange(growing_->wants_room, false);
  }
  if (tell && growing_->on_room) growing_->on_room();
  return stream;
}

bool HttpExchange::MarkGone() {
  if (!began_) return false;
  bool tell = false;
  bool released = false;
  {
    const std::lock_guard lock(growing_->mutex);
    growing_->gone = true;
    std::string().swap(growing_->waiting);
    released = growing_->ended && !growing_->posted;
    tell = std::exchange(growing_->wants_room, false) && !growing_->ended;
  }
  if (tell && growing_->on_room) growing_->on_room();
  return released;
}

HttpOwnResponse PlainResponse(int, std::string_view reason) {
  return {"text/plain", std::string(reason) + "\n"};
}

HttpReply& HttpReply::operator=(HttpReply&& other) noexcept {
  if (this != &other) {
    Drop();
    exchange_ = std::exchange(other.exchange_, nullptr);
  }
  return *this;
}

void HttpReply::Send(const HttpHead& head, std::string_view body) {
  if (exchange_ != nullptr) std::exchange(exchange_, nullptr)->Send(head, body);
}

HttpStream HttpReply::Begin(int status, std::string_view content_type, std::function<void()> on_room) {
  if (exchange_ != nullptr) exchange_->Begin(status, content_type, std::move(on_room));
  return HttpStream(std::exchange(exchange_, nullptr));
}

void HttpReply::Drop() {
  if (exchange_ != nullptr) std::exchange(exchange_, nullptr)->SendUnanswered();
}

HttpStream& HttpStream::operator=(HttpStream&& other) noexcept {
  if (this != &other) {
    Break();
    exchange_ = std::exchange(other.exchange_, nullptr);
  }
  return *this;
}

HttpStream::Result HttpStream::Write(std::string_view chunk) {
  return exchange_ != nullptr ? exchange_->Write(chunk) : Result::kGone;
}

void HttpStream::End() {
  if (exchange_ != nullptr) std::exchange(exchange_, nullptr)->Finish(true);
}

void HttpStream::Break() {
  if (exchange_ != nullptr) std::exchange(exchange_, nullptr)->Finish(false);
}

}  // namespace cqbench
