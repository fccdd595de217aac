// An HTTP front end: HTTP/1.1 and HTTP/2 without TLS (h2c, by prior knowledge) on one port, one event loop per thread.
//
// A handler gets each request, whole, on the thread of its connection's loop, and answers it through an HttpReply: at
// once, which takes no lock and copies nothing between threads, or later from any thread. A response is whole, or a
// stream of chunks with a bound on what waits for the client.
//
// The requests of an HTTP/1.1 connection are handled one after the other, in the order in which they came; those of an
// HTTP/2 connection as they come. `Upgrade: h2c` is ignored, as RFC 9113 has it: such a request is answered in
// HTTP/1.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/clock.h"
#include "src/base/target.h"

namespace cqbench {

class HttpExchange;

// Everything that it points to is valid until the request has been answered (a stream: until it has been begun).
struct HttpRequest {
  std::string_view method;  // as it came: "GET"
  // Path and query as they came, undecoded; "/" at least. Of a target in absolute form ("http://host/path") what
  // follows the host.
  std::string_view target;
  std::string_view content_type;      // empty: absent
  std::string_view content_encoding;  // empty: absent; the first one where there are several
  std::string_view accept;            // the same
  std::string_view body;              // as it came, compressed where content_encoding says so
  int thread = 0;                     // which loop this is, from 0: an index for what a handler keeps by thread
};

struct HttpField {
  std::string_view name;
  std::string_view value;
};

// How a response begins. Texts must be fit for a header line; empty: no such header.
struct HttpHead {
  int status = 200;  // 200..599; 204 and 304 have no body
  std::string_view content_type;
  HttpField field;  // one more, such as Allow of a 405
};

// The server's response where it refuses a request by itself: no HTTP, too large, too slow, not answered by its
// handler.
struct HttpOwnResponse {
  std::string_view content_type;  // lives as long as the program
  std::string body;
};
// text/plain: "Bad Request\n".
HttpOwnResponse PlainResponse(int status, std::string_view reason);

// The response's body while it grows. One thread at a time; any thread. Destroyed before End(), it breaks the response
// off so that the client sees that it is not whole (the connection ends, or the stream is reset).
class HttpStream {
 public:
  enum class Result {
    kTaken,
    kFull,  // too much waits for the client: nothing was taken; on_room will be called
    kGone,  // nobody listens any more, or it was a HEAD: the rest need not be made
  };

  HttpStream() = default;
  HttpStream(HttpStream&& other) noexcept = default;
  HttpStream& operator=(HttpStream&& other) noexcept;
  ~HttpStream() { Break(); }

  // Takes the whole chunk whenever less than HttpOptions::stream_buffer_bytes wait, so what waits is bounded by that
  // and one chunk. Chunks that wait together may go out as one: where they begin is not kept.
  Result Write(std::string_view chunk);
  void End();
  // Does what the destructor does; nothing after End().
  void Break();

 private:
  friend class HttpReply;
  explicit HttpStream(std::shared_ptr<HttpExchange> exchange) : exchange_(std::move(exchange)) {}
  std::shared_ptr<HttpExchange> exchange_;
};

// The right to answer one request, once. One thread at a time; any thread; may outlive the server. Destroyed
// unanswered, it answers 500.
class HttpReply {
 public:
  explicit HttpReply(std::shared_ptr<HttpExchange> exchange) : exchange_(std::move(exchange)) {}
  HttpReply(HttpReply&& other) noexcept = default;
  HttpReply& operator=(HttpReply&& other) noexcept;
  ~HttpReply() { Drop(); }

  // The whole response. The arguments may be the request's own views.
  void Send(const HttpHead& head, std::string_view body);
  void Send(int status, std::string_view content_type, std::string_view body) {
    Send(HttpHead{status, content_type, {}}, body);
  }
  // The head of a response whose body grows. `on_room` is called on the loop's thread once after each kFull, when there
  // is room again or nobody listens any more; it must not block, may write, and must own what it touches: the call may
  // cross with a Break() on another thread. Empty for writers that ask again by themselves.
  [[nodiscard]] HttpStream Begin(int status, std::string_view content_type, std::function<void()> on_room = nullptr);

 private:
  void Drop();
  std::shared_ptr<HttpExchange> exchange_;
};

// Called by all loops at the same time. Must not block: its loop serves nobody else meanwhile.
using HttpHandler = std::function<void(const HttpRequest&, HttpReply)>;

struct HttpOptions {
  Target listen{"localhost", 0, ""};  // port 0: a free one
  int threads = 1;
  size_t max_connections = 10'000;  // those above are closed at once
  // Request line and fields: 431 above; 414 where the request line alone, or HTTP/2's :path, is longer.
  size_t max_header_bytes = 16 << 10;
  size_t max_body_bytes = 4 << 20;          // 413 above
  uint32_t max_streams = 128;               // of an HTTP/2 connection at once
  size_t max_resets = 200;                  // streams that an HTTP/2 client may reset at a stretch; 1/s are forgiven
  size_t stream_buffer_bytes = 64 << 10;    // see HttpStream::Write()
  Nanos idle_ns = 60 * kNanosPerSecond;     // without a request: closed
  Nanos request_ns = 20 * kNanosPerSecond;  // from a request's first byte to its last: 408
  Nanos write_ns = 20 * kNanosPerSecond;    // a client that takes nothing for so long: closed
  Nanos drain_ns = 2 * kNanosPerSecond;     // what Stop() gives to requests that are being handled
  HttpOwnResponse (*own_response)(int status, std::string_view reason) = PlainResponse;  // any thread
};

// Running totals; approximate while the server runs.
struct HttpCounts {
  std::array<uint64_t, 5> responses{};  // begun, by class of status: [1] is 2xx; [0] is 100 Continue
  uint64_t http2_responses = 0;         // of all those, over HTTP/2
  uint64_t connections = 0;             // accepted
  uint64_t open_connections = 0;        // now
  uint64_t refused_connections = 0;     // above max_connections
  uint64_t timed_out = 0;               // requests and connections that a time above ended
};

// Connections are dealt out by one acceptor, each to the loop that has the fewest: so N threads with a multiple of N
// connections have equally many. (With a listening socket per thread the kernel deals by a hash: of 8 connections over
// 4 threads some thread has none in 38 % of all cases, and a benchmark would measure that.)
class HttpServer {
 public:
  // Starts a server, which serves when the function returns. Errors are one line: INVALID_ARGUMENT for invalid options,
  // NOT_FOUND for a host that does not resolve, UNAVAILABLE if an address cannot be bound, RESOURCE_EXHAUSTED if the
  // system has no threads left.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options, HttpHandler handler);

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Stop().
  ~HttpServer();

  // The port is resolved.
  const Target& address() const { return address_; }
  // Stops accepting, gives requests that are being handled options.drain_ns, closes what is left, joins the threads.
  // Blocks. Replies that are held elsewhere stay valid and go nowhere. From the thread that started it.
  void Stop();
  // Any thread.
  HttpCounts counts() const;
  // Connections that each loop has now, for tests of the dealing. Any thread.
  std::vector<uint64_t> OpenByThread() const;

 private:
  class Impl;
  HttpServer(std::unique_ptr<Impl> impl, Target address);
  const std::unique_ptr<Impl> impl_;
  const Target address_;
};

}  // namespace cqbench
