// Beast 1.74 asserts that the last chunk and the end of its trailer come together, but its code takes them in pieces,
// too.
#define BOOST_DISABLE_ASSERTS

#include "src/http/server/http1_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <limits>

#include "src/http/server/status.h"

namespace cqbench {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

// A number as RFC 9110 has it. Beast also takes a list of equal ones, which another server may read otherwise.
bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Keeps nothing: what Beast finds goes where the caller wants it.
class Callbacks : public http::basic_parser<true> {
 public:
  explicit Callbacks(Http1Head* head) : head_(head) {
    // Whoever gives us bytes has looked at their number.
    header_limit(std::numeric_limits<std::uint32_t>::max());
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }

  void CollectBody(std::string* body, size_t max_bytes) {
    body_ = body;
    max_body_bytes_ = max_bytes;
  }

  int refused_with() const { return refused_with_; }
  // True for "http://host?query", whose target in origin form has a '/' that is not there.
  bool lacks_slash() const { return lacks_slash_; }
  bool head_done() const { return head_ == nullptr; }

  // Checks what only the whole head shows.
  int CheckHead(const Http1Head& head) const {
    if (refused_with_ != 0) return refused_with_;
    if (hosts_ > 1 || (hosts_ == 0 && head.http11)) return kBadRequest;
    if (lengths_ > 1 || codings_ > 1 || (lengths_ > 0 && codings_ > 0)) return kBadRequest;
    if (codings_ > 0 && !head.http11) return kBadRequest;
    return 0;
  }

 private:
  using Error = beast::error_code;

  // Pure in Beast; `override` is left out where a version of Beast does not have it.
  void on_request_impl(http::verb, beast::string_view method, beast::string_view target, int version,
                       Error& error) override {
    head_->method = View(method);
    head_->target = View(target);
    head_->http11 = version == 11;
    if (!target.empty() && target.front() != '/') ReadAbsoluteForm(error);
  }
  void on_response_impl(int, beast::string_view, int, Error&) override {}

  void on_field_impl(http::field field, beast::string_view, beast::string_view text, Error& error) override {
    if (head_ == nullptr) return;  // a trailer
    const std::string_view value = View(text);
    switch (field) {
      case http::field::host:
        ++hosts_;
        break;
      case http::field::content_length:
        ++lengths_;
        if (!IsNumber(value)) Refuse(kBadRequest, error);
        break;
      case http::field::transfer_encoding:
        ++codings_;
        if (!beast::iequals(text, "chunked")) Refuse(kNotImplemented, error);
        break;
      case http::field::content_type:
        head_->content_type = value;
        break;
      case http::field::content_encoding:
        if (head_->content_encoding.empty()) head_->content_encoding = value;
        break;
      case http::field::accept:
        if (head_->accept.empty()) head_->accept = value;
        break;
      case http::field::expect:
        (beast::iequals(text, "100-continue") ? head_->expects_continue : head_->expects_else) = true;
        break;
      default:
        break;
    }
  }
  // Newer versions of Beast have trailers apart.
  void on_trailer_field_impl(http::field, beast::string_view, beast::string_view, Error&) {}

  void on_header_impl(Error&) override {
    head_->chunked = chunked();
    head_->keep_alive = keep_alive();
    const auto length = content_length();
    if (length) head_->content_length = *length;
    head_ = nullptr;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(beast::string_view, Error& error) override {
    error = http::error::unexpected_body;  // bodies of known length are not given to the parser
    return 0;
  }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, Error& error) override {
    if (size > max_body_bytes_ - body_->size()) Refuse(kTooLarge, error);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view bytes, Error&) override {
    body_->append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(Error&) override {}

  // "http://host/path" (RFC 9112, 3.2.2) becomes "/path". Other forms stay: no handler has them.
  void ReadAbsoluteForm(Error& error) {
    constexpr beast::string_view kHttp = "http://";
    constexpr beast::string_view kHttps = "https://";
    const std::string_view target = head_->target;
    const auto has = [&](beast::string_view scheme) {
      return target.size() >= scheme.size() && beast::iequals({target.data(), scheme.size()}, scheme);
    };
    // A resource that asks for a secured connection is not here (RFC 9110, 7.4).
    if (has(kHttps)) return Refuse(kMisdirected, error);
    if (!has(kHttp)) return;
    const std::string_view rest = target.substr(kHttp.size());
    const size_t end = std::min(rest.find_first_of("/?"), rest.size());
    if (end == 0) return Refuse(kBadRequest, error);  // no host
    lacks_slash_ = end < rest.size() && rest[end] == '?';
    head_->target = end == rest.size() ? std::string_view("/") : rest.substr(end);
  }

  void Refuse(int status, Error& error) {
    refused_with_ = status;
    error = http::error::bad_value;
  }

  Http1Head* head_;  // null: the head is done
  std::string* body_ = nullptr;
  size_t max_body_bytes_ = 0;
  int refused_with_ = 0;
  bool lacks_slash_ = false;
  int hosts_ = 0;
  int lengths_ = 0;
  int codings_ = 0;
};

boost::asio::const_buffer Buffer(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

}  // namespace

class Http1Parser::Impl {
 public:
  std::optional<Callbacks> callbacks;  // made anew for each request
  std::string target;                  // where it had to be put together
};

Http1Parser::Http1Parser() : impl_(std::make_unique<Impl>()) {}
Http1Parser::~Http1Parser() = default;

int Http1Parser::ParseHead(std::string_view head, Http1Head* into) {
  *into = Http1Head();
  Callbacks& callbacks = impl_->callbacks.emplace(into);
  beast::error_code error;
  const size_t used = callbacks.put(Buffer(head), error);
  if (callbacks.refused_with() != 0) return callbacks.refused_with();
  if (error || !callbacks.head_done() || used != head.size()) return kBadRequest;
  if (callbacks.lacks_slash()) {
    impl_->target.assign(1, '/').append(into->target);
    into->target = impl_->target;
  }
  return callbacks.CheckHead(*into);
}

Http1Parser::Chunks Http1Parser::ParseChunks(std::string_view bytes, size_t max_body_bytes, std::string* body) {
  Callbacks& callbacks = *impl_->callbacks;
  callbacks.CollectBody(body, max_body_bytes);
  Chunks chunks;
  while (chunks.used < bytes.size() && !chunks.done) {
    beast::error_code error;
    chunks.used += callbacks.put(Buffer(bytes.substr(chunks.used)), error);
    if (error == http::error::need_more) break;
    if (error) {
      chunks.refused_with = callbacks.refused_with() != 0 ? callbacks.refused_with() : kBadRequest;
      break;
    }
    chunks.done = callbacks.is_done();
  }
  return chunks;
}

std::string_view ReasonOf(int status) {
  if (status == kTooLarge) return "Content Too Large";  // Beast has the name of an older RFC
  return View(http::obsolete_reason(static_cast<http::status>(status)));
}

}  // namespace cqbench
