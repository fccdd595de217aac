#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>

#include "absl/strings/str_cat.h"
#include "src/http/client/http_wire.h"

namespace cqbench {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// The body is compared and not kept.
class Response : public http::basic_parser<false> {
 public:
  Response(const HttpMessage& message, HttpSlot& slot) : message_(message), slot_(slot) {
    header_limit(std::numeric_limits<std::uint32_t>::max());
    body_limit(std::numeric_limits<std::uint64_t>::max());
    eager(true);
    skip(message.is_head());
    slot.body.Reset();
  }
  int status() const { return status_; }

 private:
  using Error = beast::error_code;
  // Pure in Beast.
  void on_request_impl(http::verb, beast::string_view, beast::string_view, int, Error&) override {}
  void on_response_impl(int status, beast::string_view, int, Error&) override { status_ = status; }
  void on_field_impl(http::field, beast::string_view, beast::string_view, Error&) override {}
  // In newer versions only.
  // NOLINTNEXTLINE
  virtual void on_trailer_field_impl(http::field, beast::string_view, beast::string_view, Error&) {}
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(beast::string_view body, Error&) override { return Take(body); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, Error&) override { return Take(body); }
  void on_finish_impl(Error&) override {}

  std::size_t Take(beast::string_view body) {
    slot_.body.Take(message_.expected(), {body.data(), body.size()});
    return body.size();
  }

  const HttpMessage& message_;
  HttpSlot& slot_;
  int status_ = 0;
};

}  // namespace

// One answer after the other.
class HttpResponseParser {
 public:
  // The head of a response may be so long.
  static constexpr size_t kMaxWaiting = 256 << 10;

  void Begin(const HttpMessage& message, HttpSlot& slot) { response_.emplace(message, slot); }
  void Clear() {
    response_.reset();
    waiting_.clear();
  }
  std::optional<Response>& response() { return response_; }
  // Bytes that came before and could not be used without those that have come now.
  std::string& waiting() { return waiting_; }

 private:
  std::optional<Response> response_;
  std::string waiting_;
};

Http1Wire::Http1Wire(const HttpMessage& message) : message_(message), parser_(std::make_unique<HttpResponseParser>()) {}
Http1Wire::~Http1Wire() = default;

void Http1Wire::Reset() {
  parser_->Clear();
  slot_ = nullptr;
  closing_ = false;
}

void Http1Wire::Submit(HttpSlot& slot, std::string& out) {
  slot_ = &slot;
  parser_->Begin(message_, slot);
  out += message_.http1();
}

std::string Http1Wire::Feed(std::string_view bytes, std::vector<HttpEnded>& ended) {
  std::string& waiting = parser_->waiting();
  const bool waited = !waiting.empty();
  if (waited) {
    waiting += bytes;
    bytes = waiting;
  }
  while (!bytes.empty()) {
    std::optional<Response>& response = parser_->response();
    if (!response) return "the server sent bytes that nobody asked for";
    beast::error_code error;
    const size_t used = response->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(used);
    if (error == http::error::need_more) break;
    if (error) return absl::StrCat("the server's response is no HTTP/1.1: ", error.message());
    if (!response->is_done()) continue;
    const int status = response->status();
    if (status < 200) {  // such as 100: the response itself is still to come
      parser_->Begin(message_, *slot_);
      continue;
    }
    closing_ = !response->keep_alive();
    response.reset();
    ended.push_back({std::exchange(slot_, nullptr), status});
  }
  if (bytes.size() > HttpResponseParser::kMaxWaiting) return "the head of the server's response is too long";
  if (waited || !bytes.empty()) waiting = std::string(bytes);
  return "";
}

}  // namespace cqbench
