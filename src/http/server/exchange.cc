#include "src/http/server/exchange.h"

#include <utility>

#include "src/http/server/session.h"
#include "src/http/server/status.h"

namespace cqbench {
namespace {

// The exchange whose handler runs on this thread and has not responded yet.
thread_local const HttpExchange* handling = nullptr;

// Memory that a large late response took is not kept.
constexpr size_t kKeptOfResponse = 64 << 10;

}  // namespace

bool Mailbox::Push(std::shared_ptr<HttpExchange> exchange) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  waiting_.push_back(std::move(exchange));
  // Under the lock, so that the loop is there.
  if (waiting_.size() == 1) wake_();
  return true;
}

void Mailbox::Deliver() {
  {
    const std::lock_guard lock(mutex_);
    std::swap(waiting_, delivering_);
  }
  for (const std::shared_ptr<HttpExchange>& exchange : delivering_) {
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
  std::vector<std::shared_ptr<HttpExchange>> nobody_waits_for;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::swap(waiting_, nobody_waits_for);
}

void HttpExchange::Handle(Session& session, const HttpHandler& handler, const HttpRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    posted_ = gone_ = has_head_ = whole_ = ended_ = broken_ = wants_room_ = false;
    Empty();
  }
  session_ = &session;
  const HttpExchange* const outer = std::exchange(handling, this);
  handler(request, HttpReply(shared_from_this()));
  handling = outer;
}

void HttpExchange::Send(const HttpHead& head, std::string_view body) {
  if (handling == this) {
    handling = nullptr;
    if (session_ != nullptr) session_->OnResponse(*this, head, body);
    return;
  }
  const std::lock_guard lock(mutex_);
  SetHead(head);
  waiting_.assign(body);
  whole_ = ended_ = true;
  Post();
}

void HttpExchange::SendUnanswered() {
  const HttpOwnResponse own = own_response_(kUnanswered, ReasonOf(kUnanswered));
  Send({kUnanswered, own.content_type, {}}, own.body);
}

void HttpExchange::Begin(int status, std::string_view content_type, std::function<void()> on_room) {
  const std::lock_guard lock(mutex_);
  SetHead({status, content_type, {}});
  on_room_ = std::move(on_room);
  Post();
}

HttpStream::Result HttpExchange::Write(std::string_view chunk) {
  const std::lock_guard lock(mutex_);
  if (gone_) return HttpStream::Result::kGone;
  if (waiting_.size() >= stream_buffer_bytes_) {
    wants_room_ = true;
    return HttpStream::Result::kFull;
  }
  waiting_.append(chunk);
  Post();
  return gone_ ? HttpStream::Result::kGone : HttpStream::Result::kTaken;
}

void HttpExchange::Finish(bool whole) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  broken_ = !whole;
  Post();
}

void HttpExchange::SetHead(const HttpHead& head) {
  has_head_ = true;
  status_ = head.status;
  content_type_.assign(head.content_type);
  field_name_.assign(head.field.name);
  field_value_.assign(head.field.value);
}

void HttpExchange::Empty() {
  waiting_.clear();
  if (waiting_.capacity() > kKeptOfResponse) std::string().swap(waiting_);
}

void HttpExchange::Post() {
  if (posted_ || gone_) return;
  posted_ = mailbox_->Push(shared_from_this());
  gone_ = !posted_;
}

Session* HttpExchange::Deliver() {
  Session* const session = session_;
  bool has_head = false, whole = false;
  {
    const std::lock_guard lock(mutex_);
    posted_ = false;
    has_head = std::exchange(has_head_, false);
    whole = whole_;
  }
  if (session == nullptr) return nullptr;
  // The holder does not change a head that it has posted, nor a body that is whole.
  if (has_head && whole) {
    session->OnResponse(*this, {status_, content_type_, {field_name_, field_value_}}, waiting_);
    return session;
  }
  if (has_head) session->OnBegin(*this, status_, content_type_);
  if (session_ != nullptr) session->OnChunks(*this);
  return session;
}

HttpExchange::Stream HttpExchange::TakeChunks(std::string& out) {
  std::function<void()> done;
  const std::function<void()>* tell = nullptr;
  Stream stream = Stream::kGoesOn;
  {
    const std::lock_guard lock(mutex_);
    out.append(waiting_);
    waiting_.clear();
    if (ended_) {
      stream = broken_ ? Stream::kBroken : Stream::kEnded;
      done = std::exchange(on_room_, nullptr);
    } else if (std::exchange(wants_room_, false) && on_room_) {
      tell = &on_room_;
    }
  }
  if (tell != nullptr) (*tell)();
  return stream;
}

void HttpExchange::Detach() {
  session_ = nullptr;
  std::function<void()> tell;
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    Empty();
    tell = std::exchange(on_room_, nullptr);
    waits = std::exchange(wants_room_, false) && !ended_;
  }
  if (waits && tell) tell();
}

HttpOwnResponse PlainResponse(int, std::string_view reason) {
  return {"text/plain", std::string(reason) + "\n"};
}

HttpReply& HttpReply::operator=(HttpReply&& other) noexcept {
  if (this != &other) {
    Drop();
    exchange_ = std::move(other.exchange_);
  }
  return *this;
}

void HttpReply::Send(const HttpHead& head, std::string_view body) {
  if (const auto exchange = std::move(exchange_)) exchange->Send(head, body);
}

HttpStream HttpReply::Begin(int status, std::string_view content_type, std::function<void()> on_room) {
  if (exchange_ != nullptr) exchange_->Begin(status, content_type, std::move(on_room));
  return HttpStream(std::move(exchange_));
}

void HttpReply::Drop() {
  if (const auto exchange = std::move(exchange_)) exchange->SendUnanswered();
}

HttpStream& HttpStream::operator=(HttpStream&& other) noexcept {
  if (this != &other) {
    Break();
    exchange_ = std::move(other.exchange_);
  }
  return *this;
}

HttpStream::Result HttpStream::Write(std::string_view chunk) {
  return exchange_ != nullptr ? exchange_->Write(chunk) : Result::kGone;
}

void HttpStream::End() {
  if (const auto exchange = std::move(exchange_)) exchange->Finish(true);
}

void HttpStream::Break() {
  if (const auto exchange = std::move(exchange_)) exchange->Finish(false);
}

}  // namespace cqbench
