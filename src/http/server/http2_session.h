// An HTTP/2 connection on nghttp2, and its streams. Whoever needs one calls MakeHttp2Session().
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/http/server/session.h"

namespace cqbench {

class Http2Stream final : public HttpExchange {
 public:
  explicit Http2Stream(const LoopState& loop) : HttpExchange(loop.mailbox, loop.options) {}

  // Makes it that stream.
  void Reset(int32_t the_id, Nanos now);

  int32_t id = 0;
  size_t place = 0;  // among the session's
  Nanos since = 0;   // when it began, then when the client last took something of the response

  // The request.
  std::string method;
  std::string path;
  std::string content_type;
  std::string content_encoding;
  std::string accept;
  std::string expect;
  std::string body;
  size_t header_bytes = 0;
  uint64_t length = 0;     // as announced; nghttp2 compares it with what comes
  bool long_path = false;  // more than may be; not kept
  bool headers_done = false;
  bool dispatched = false;

  // The response.
  bool held = false;      // somebody has the reply
  bool answered = false;  // its head was handed to nghttp2
  bool refused = false;   // by us, before the request was complete
  std::string response;   // what of the body was not yet handed to nghttp2, from `sent` on
  size_t sent = 0;
  bool growing = false;
  bool growing_ended = false;
  bool deferred = false;  // nghttp2 asks again only after it has been told
  std::string length_text;
};

class Http2Session final : public Session {
 public:
  Http2Session(LoopState& loop, Wire& wire);
  ~Http2Session() override;
  size_t Receive(std::string_view bytes) override;
  void Produce() override;

  // Requests are bounded by the number of streams and by what they may be reset, so reading on is always right as long
  // as the client takes what we write, which the connection sees to.
  bool WantsBytes() const override { return !ended_; }
  bool Busy() const override { return !streams_.empty(); }

  void Drain() override;
  void CheckTimes() override;

  void OnResponse(HttpExchange& exchange, const HttpHead& head, std::string_view body) override;
  void OnBegin(HttpExchange& exchange, int status, std::string_view content_type) override;
  void OnChunks(HttpExchange& exchange) override;

 private:
  // Out of memory is the only way to fail.
  static void Must(int result);

  static Http2Session& Of(void* self) { return *static_cast<Http2Session*>(self); }
  static Http2Stream* StreamOf(nghttp2_session* session, int32_t id);

  // Both live as long as the program.
  static const nghttp2_option* Options();
  static const nghttp2_session_callbacks* Callbacks();
  void CheckTimes(Http2Stream& stream);
  void Reset(Http2Stream& stream, uint32_t code);

  // nghttp2's calls.
  int OnBeginHeaders(const nghttp2_frame& frame);
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int OnFrame(const nghttp2_frame& frame);
  void HeadersDone(Http2Stream& stream, bool last);
  int OnData(int32_t id, std::string_view data);
  void Dispatch(Http2Stream& stream);

  // Before the request is complete, or instead of handling it.
  void Refuse(Http2Stream& stream, int status);
  void Respond(Http2Stream& stream, const HttpHead& head, std::string_view body);
  void Submit(Http2Stream& stream, const HttpHead& head, bool has_body, bool has_length);
  // Gives nghttp2 what it asks for of a response's body.
  static ssize_t ReadResponse(nghttp2_session*, int32_t, uint8_t* out, size_t size, uint32_t* flags,
                              nghttp2_data_source* source, void* self);
  ssize_t Read(Http2Stream& stream, uint8_t* out, size_t size, uint32_t* flags);

  // A client can also make us reset; an internal error is a handler's doing.
  int OnSent(const nghttp2_frame& frame);
  int OnClose(int32_t id);
  void Remove(Http2Stream& stream);

  // A reset is forgiven per second; more than that and the client makes us work for nothing.
  void CountReset();

  nghttp2_session* session_ = nullptr;
  std::vector<std::shared_ptr<Http2Stream>> streams_;  // open
  std::vector<std::shared_ptr<Http2Stream>> unused_;   // no more than were open at once
  std::vector<std::weak_ptr<Http2Stream>> orphans_;    // closed, but somebody may still have the reply
  size_t unfinished_bytes_ = 0;                        // of the bodies of requests that are coming in
  Nanos idle_since_;
  Nanos resets_since_;
  size_t resets_ = 0;
  bool draining_ = false;
};

}  // namespace cqbench
