// HTTP/1.1 and 1.0: one request at a time, responses in order.
#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "src/http/server/http1_parser.h"
#include "src/http/server/session.h"
#include "src/http/server/status.h"

namespace cqbench {
namespace {

// Memory that a large request took is not kept for the next one.
constexpr size_t kKeptOfRequest = 64 << 10;

bool HasBody(int status) {
  return status != 204 && status != 304;
}

void AppendNumber(std::string& out, size_t number, int base = 10) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  out.append(digits.data(), static_cast<size_t>(end - digits.data()));
}

class Http1Session final : public Session {
 public:
  Http1Session(LoopState& loop, Wire& wire) : Session(loop, wire), since_(loop.now) {}
  ~Http1Session() override {
    if (exchange_ != nullptr) exchange_->Detach();
  }

  size_t Receive(std::string_view bytes) override {
    if (busy_ || ended_) return 0;
    // The bytes of the request before were kept for as long as it was being answered.
    size_t used = std::exchange(held_, 0);
    while (!ended_ && output_.size() < kOutputBytes) {
      const std::string_view rest = bytes.substr(used);
      const size_t n = reading_body_ ? ReceiveBody(rest) : ReceiveHead(rest);
      if (busy_) {
        held_ = n;
        return used;
      }
      if (n == 0) break;
      used += n;
    }
    return used;
  }

  void Produce() override {
    while (streaming_ && output_.size() < kOutputBytes) {
      chunk_.clear();
      const auto stream = exchange_->TakeChunks(chunk_);
      AppendChunk(chunk_);
      if (stream == HttpExchange::Stream::kGoesOn) break;
      streaming_ = false;
      if (stream == HttpExchange::Stream::kBroken) {
        broken_ = ended_ = true;
      } else if (chunked_) {
        output_ += "0\r\n\r\n";
      }
      Released();
    }
  }

  bool WantsBytes() const override { return !busy_ && !ended_ && output_.size() < kOutputBytes; }
  bool Busy() const override { return busy_; }

  void Drain() override {
    draining_ = true;
    // One that has begun may come to its end: CheckTimes() sees to it that it does.
    if (!busy_ && !in_request_) ended_ = true;
  }

  void CheckTimes() override {
    if (busy_ || ended_) return;
    const Nanos limit = in_request_ ? loop_.options.request_ns : loop_.options.idle_ns;
    if (loop_.now - since_ < limit) return;
    loop_.counts.timed_out.Add();
    if (in_request_) {
      Refuse(kTimeout);
    } else {
      ended_ = true;
    }
  }

  void OnResponse(HttpExchange& /*exchange*/, const HttpHead& head, std::string_view body) override {
    Append(head, body);
    Released();
  }
  void OnBegin(HttpExchange& /*exchange*/, int status, std::string_view content_type) override {
    chunked_ = http11_;
    if (!chunked_) keep_alive_ = false;
    AppendHead({status, content_type, {}});
    if (chunked_ && HasBody(status)) output_ += "Transfer-Encoding: chunked\r\n";
    output_ += "\r\n";
    streaming_ = !is_head_ && HasBody(status);
    if (streaming_) return;
    LetGo();
    Released();
  }
  void OnChunks(HttpExchange& /*exchange*/) override {}  // Produce() takes them

 private:
  void Append(const HttpHead& head, std::string_view body) {
    AppendHead(head);
    if (HasBody(head.status)) {
      output_ += "Content-Length: ";
      AppendNumber(output_, body.size());
      output_ += "\r\n\r\n";
      if (!is_head_) output_.append(body);
    } else {
      output_ += "\r\n";
    }
  }

  // The response is complete.
  void Released() {
    busy_ = false;
    if (!keep_alive_ || draining_) ended_ = true;
    if (body_.capacity() > kKeptOfRequest) std::string().swap(body_);
    since_ = loop_.now;
  }
  // The reply is still held by somebody, or the mailbox has it.
  void LetGo() {
    exchange_->Detach();
    exchange_ = nullptr;
  }

  size_t ReceiveHead(std::string_view bytes) {
    if (bytes.empty()) return 0;
    if (!in_request_) {
      in_request_ = true;
      since_ = loop_.now;
      may_skip_line_ = true;
    }
    // One empty line before a request is forgiven, as RFC 9112 asks.
    if (may_skip_line_ && bytes[0] == '\r') {
      if (bytes.size() == 1) return 0;
      may_skip_line_ = false;
      if (bytes[1] == '\n') return 2;
    }
    const size_t end = FindEndOfHead(bytes);
    if (end == 0 || ended_) return 0;
    const std::string_view text = bytes.substr(0, end);
    Http1Head head;
    const int refused_with = ParseHead(text, &head);
    if (refused_with != 0) return Refuse(refused_with, text);
    const size_t length = head.content_length.value_or(0);
    if (!head.chunked && bytes.size() - end >= length) {
      Handle(head, bytes.substr(end, length));
      return end + length;
    }
    // The body comes in pieces. What the head is made of may move meanwhile, so it is copied.
    if (head.expects_continue && head.http11 && bytes.size() == end) {
      loop_.CountResponse(100);
      output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    }
    head_text_.assign(text);
    parser_.ParseHead(head_text_, &head_);
    body_.clear();
    reading_body_ = true;
    return end;
  }

  // Grammar, then what we take: 0, or the status that refuses it.
  int ParseHead(std::string_view text, Http1Head* head) {
    const int refused_with = parser_.ParseHead(text, head);
    if (refused_with != 0) return refused_with;
    if (head->expects_else) return kExpectationFailed;
    return head->content_length.value_or(0) > loop_.options.max_body_bytes ? kTooLarge : 0;
  }

  // Returns where the head ends; 0: not yet, or refused. Each byte is looked at once. Lines that other servers may take
  // for something else are refused here: Beast reads a continued line as one.
  size_t FindEndOfHead(std::string_view bytes) {
    for (size_t at; (at = bytes.find('\n', scanned_)) != std::string_view::npos;) {
      if (at == 0 || bytes[at - 1] != '\r') return Refuse(kBadRequest);
      if (at == line_ + 1) {
        scanned_ = line_ = 0;
        return at + 1 > loop_.options.max_header_bytes ? RefuseLong(bytes) : at + 1;
      }
      if (line_ > 0 && (bytes[line_] == ' ' || bytes[line_] == '\t')) return Refuse(kBadRequest);
      scanned_ = line_ = at + 1;
    }
    scanned_ = bytes.size();
    return bytes.size() > loop_.options.max_header_bytes ? RefuseLong(bytes) : 0;
  }

  // The request line is to blame where it alone is too long.
  size_t RefuseLong(std::string_view bytes) {
    return Refuse(bytes.find('\n') < loop_.options.max_header_bytes ? kHeadTooLarge : kTargetTooLong, bytes);
  }

  size_t ReceiveBody(std::string_view bytes) {
    const size_t max = loop_.options.max_body_bytes;
    if (!head_.chunked) {
      const size_t n = std::min(bytes.size(), static_cast<size_t>(*head_.content_length) - body_.size());
      body_.append(bytes.substr(0, n));
      if (body_.size() == *head_.content_length) BodyDone();
      return n;
    }
    const Http1Parser::Chunks chunks = parser_.ParseChunks(bytes, max, &body_);
    if (chunks.refused_with != 0) return Refuse(chunks.refused_with);
    if (chunks.done) {
      BodyDone();
    } else if (bytes.size() - chunks.used > loop_.options.max_header_bytes) {
      return Refuse(kHeadTooLarge);  // a chunk's extensions, or the trailer
    }
    return chunks.used;
  }

  void BodyDone() {
    reading_body_ = false;
    Handle(head_, body_);
  }

  void Handle(const Http1Head& head, std::string_view body) {
    in_request_ = false;
    busy_ = true;
    http11_ = head.http11;
    keep_alive_ = head.keep_alive;
    is_head_ = head.method == "HEAD";
    if (exchange_ != nullptr && exchange_.use_count() > 1) LetGo();
    if (exchange_ == nullptr) exchange_ = std::make_shared<HttpExchange>(loop_.mailbox, loop_.options);
    exchange_->Handle(
        *this, loop_.handler,
        {head.method, head.target, head.content_type, head.content_encoding, head.accept, body, loop_.thread});
  }

  // Answers with that status and ends; returns 0, what was used of the bytes. What may still come is not a request.
  // `head`: as far as it has come, where it is known.
  size_t Refuse(int status, std::string_view head = {}) {
    in_request_ = true;
    http11_ = true;
    keep_alive_ = false;
    is_head_ = head.starts_with("HEAD ");
    ended_ = true;
    const HttpOwnResponse own = loop_.options.own_response(status, ReasonOf(status));
    Append({status, own.content_type, {}}, own.body);
    return 0;
  }

  void AppendHead(const HttpHead& head) {
    loop_.CountResponse(head.status);
    if (head.status == 200) {
      output_ += "HTTP/1.1 200 OK\r\nDate: ";
    } else {
      output_ += "HTTP/1.1 ";
      AppendNumber(output_, static_cast<size_t>(head.status));
      output_ += ' ';
      output_ += ReasonOf(head.status);
      output_ += "\r\nDate: ";
    }
    output_.append(loop_.date.data(), loop_.date.size() - 1);
    if (!head.content_type.empty()) {
      output_ += "\r\nContent-Type: ";
      output_ += head.content_type;
    }
    if (!head.field.name.empty()) {
      output_ += "\r\n";
      output_ += head.field.name;
      output_ += ": ";
      output_ += head.field.value;
    }
    output_ += "\r\n";
    if (!keep_alive_ || draining_) {
      output_ += "Connection: close\r\n";
    } else if (!http11_) {
      output_ += "Connection: keep-alive\r\n";
    }
  }

  void AppendChunk(std::string_view bytes) {
    if (bytes.empty()) return;
    if (!chunked_) {
      output_ += bytes;
      return;
    }
    AppendNumber(output_, bytes.size(), 16);
    output_ += "\r\n";
    output_ += bytes;
    output_ += "\r\n";
  }

  Http1Parser parser_;
  std::shared_ptr<HttpExchange> exchange_;  // used again where nobody else has it
  Nanos since_;                             // the request's first byte, or the end of the last response

  // The request that is coming in:
  bool in_request_ = false;
  bool may_skip_line_ = false;
  size_t scanned_ = 0;
  size_t line_ = 0;  // where the line begins that is being scanned
  bool reading_body_ = false;
  std::string head_text_;
  Http1Head head_;  // in head_text_
  std::string body_;

  // The request that is being answered:
  bool busy_ = false;
  size_t held_ = 0;
  bool http11_ = true;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool streaming_ = false;
  bool chunked_ = false;
  std::string chunk_;

  bool draining_ = false;
};

}  // namespace

std::unique_ptr<Session> MakeHttp1Session(LoopState& loop, Wire& wire) {
  return std::make_unique<Http1Session>(loop, wire);
}

}  // namespace cqbench
