// HTTP/2 without TLS, on nghttp2: framing, header compression and flow control are its; requests, responses and limits
// ours.
#include "src/http/server/http2_session.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "src/http/server/status.h"

namespace cqbench {
namespace {

// A header list that many times as long as may be ends the connection: decoding it is the attack.
constexpr size_t kHopelessHeaders = 4;
// All unfinished request bodies of a connection may take as much as this number of the largest.
constexpr size_t kBodiesAtOnce = 4;
// Each header counts with this size in addition to its text (RFC 9113, 6.5.2).
constexpr size_t kHeaderOverhead = 32;
// How long a client may go on sending a request that was refused.
constexpr Nanos kRefusedLingerNs = 2 * kNanosPerSecond;
// Memory that a large request or response took is not kept for the next one.
constexpr size_t kKeptBytes = 16 << 10;

// nghttp2 does not change what it is given.
uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
}

// The value must live until the frame has been written, or be copied (`flags`).
nghttp2_nv Header(std::string_view name, std::string_view value, uint8_t flags = NGHTTP2_NV_FLAG_NO_COPY_VALUE) {
  return {Bytes(name), Bytes(value), name.size(), value.size(),
          static_cast<uint8_t>(NGHTTP2_NV_FLAG_NO_COPY_NAME | flags)};
}

}  // namespace

Http2Session::Http2Session(LoopState& loop, Wire& wire)
    : Session(loop, wire), idle_since_(loop.now), resets_since_(loop.now) {
  Must(nghttp2_session_server_new2(&session_, Callbacks(), this, Options()));
  const HttpOptions& options = loop.options;
  const std::array<nghttp2_settings_entry, 2> settings{{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.max_streams},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options.max_header_bytes)},
  }};
  Must(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
}

Http2Session::~Http2Session() {
  for (const auto& stream : streams_) stream->Detach();
  nghttp2_session_del(session_);
}

size_t Http2Session::Receive(std::string_view bytes) {
  if (ended_) return bytes.size();
  const ssize_t used = nghttp2_session_mem_recv(session_, Bytes(bytes), bytes.size());
  // No HTTP/2 any more, or a flood: nothing more to say.
  if (used < 0) ended_ = true;
  return bytes.size();
}

void Http2Session::Produce() {
  while (!ended_ && output_.size() < kOutputBytes) {
    const uint8_t* data = nullptr;
    const ssize_t n = nghttp2_session_mem_send(session_, &data);
    if (n < 0) ended_ = true;
    if (n <= 0) break;
    output_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(n));
  }
  if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0) ended_ = true;
}

void Http2Session::Drain() {
  if (draining_ || ended_) return;
  draining_ = true;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

void Http2Session::CheckTimes() {
  if (ended_) return;
  if (streams_.empty() && loop_.now - idle_since_ >= loop_.options.idle_ns) {
    loop_.counts.timed_out.Add();
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
    return;
  }
  for (const auto& stream : streams_) CheckTimes(*stream);
}

void Http2Session::OnResponse(HttpExchange& exchange, const HttpHead& head, std::string_view body) {
  auto& stream = static_cast<Http2Stream&>(exchange);
  stream.held = false;
  Respond(stream, head, body);
}

void Http2Session::OnBegin(HttpExchange& exchange, int status, std::string_view content_type) {
  auto& stream = static_cast<Http2Stream&>(exchange);
  stream.growing = stream.method != "HEAD" && status != 204 && status != 304;
  Submit(stream, {status, content_type, {}}, stream.growing, /*has_length=*/false);
}

void Http2Session::OnChunks(HttpExchange& exchange) {
  auto& stream = static_cast<Http2Stream&>(exchange);
  if (std::exchange(stream.deferred, false)) {
    stream.since = loop_.now;
    nghttp2_session_resume_data(session_, stream.id);
  }
}

void Http2Session::Respond(Http2Stream& stream, const HttpHead& head, std::string_view body) {
  const bool may_have_body = head.status != 204 && head.status != 304;
  const bool has_body = !body.empty() && stream.method != "HEAD" && may_have_body;
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), body.size()).ptr;
  stream.length_text.assign(digits.data(), static_cast<size_t>(end - digits.data()));
  if (has_body) stream.response.assign(body);
  Submit(stream, head, has_body, /*has_length=*/may_have_body);
}

void Http2Session::Must(int result) {
  if (result != 0) std::abort();
}

Http2Stream* Http2Session::StreamOf(nghttp2_session* session, int32_t id) {
  return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
}

void Http2Session::CheckTimes(Http2Stream& stream) {
  const HttpOptions& options = loop_.options;
  const Nanos age = loop_.now - stream.since;
  if (stream.refused) {
    // Not at once: some clients drop a response whose stream is reset before they have sent all of their request.
    if (age >= kRefusedLingerNs) Reset(stream, NGHTTP2_NO_ERROR);
  } else if (!stream.dispatched && age >= options.request_ns) {
    loop_.counts.timed_out.Add();
    stream.headers_done ? Refuse(stream, kTimeout) : Reset(stream, NGHTTP2_CANCEL);
  } else if (stream.answered && !stream.deferred && age >= options.write_ns) {
    loop_.counts.timed_out.Add();
    Reset(stream, NGHTTP2_CANCEL);
  }
}

void Http2Session::Reset(Http2Stream& stream, uint32_t code) {
  stream.since = loop_.now;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, code);
}

int Http2Session::OnBeginHeaders(const nghttp2_frame& frame) {
  if (frame.headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  // Streams that were reset are none any more for nghttp2, but their requests may still be handled.
  if (orphans_.size() > loop_.options.max_streams) {
    std::erase_if(orphans_, [](const std::weak_ptr<Http2Stream>& orphan) { return orphan.expired(); });
  }
  if (orphans_.size() > loop_.options.max_streams) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_REFUSED_STREAM);
    return 0;
  }
  std::shared_ptr<Http2Stream> stream;
  if (!unused_.empty()) {
    stream = std::move(unused_.back());
    unused_.pop_back();
  }
  if (stream == nullptr || stream.use_count() > 1) stream = std::make_shared<Http2Stream>(loop_);
  stream->Reset(frame.hd.stream_id, loop_.now);
  stream->place = streams_.size();
  streams_.push_back(stream);
  return nghttp2_session_set_stream_user_data(session_, frame.hd.stream_id, stream.get());
}

int Http2Session::OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
  Http2Stream* const stream = StreamOf(session_, frame.hd.stream_id);
  if (stream == nullptr) return 0;
  stream->header_bytes += name.size() + value.size() + kHeaderOverhead;
  const size_t max = loop_.options.max_header_bytes;
  if (stream->header_bytes > kHopelessHeaders * max) return NGHTTP2_ERR_CALLBACK_FAILURE;
  if (!stream->headers_done && name == ":path") stream->long_path = value.size() > max;
  if (stream->headers_done || stream->header_bytes > max) return 0;
  if (name == ":method") {
    stream->method.assign(value);
  } else if (name == ":path") {
    stream->path.assign(value);
  } else if (name == "content-type") {
    stream->content_type.assign(value);
  } else if (name == "content-encoding") {
    if (stream->content_encoding.empty()) stream->content_encoding.assign(value);
  } else if (name == "accept") {
    if (stream->accept.empty()) stream->accept.assign(value);
  } else if (name == "expect") {
    stream->expect.assign(value);
  } else if (name == "content-length") {
    // nghttp2 has refused what is no number.
    std::from_chars(value.data(), value.data() + value.size(), stream->length);
  }
  return 0;
}

int Http2Session::OnFrame(const nghttp2_frame& frame) {
  const bool headers = frame.hd.type == NGHTTP2_HEADERS;
  if (frame.hd.type == NGHTTP2_RST_STREAM) CountReset();
  if (!headers && frame.hd.type != NGHTTP2_DATA) return 0;
  Http2Stream* const stream = StreamOf(session_, frame.hd.stream_id);
  if (stream == nullptr || stream->refused) return 0;
  const bool last = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (headers && !stream->headers_done) {
    stream->headers_done = true;
    HeadersDone(*stream, last);
  } else if (headers && stream->header_bytes > loop_.options.max_header_bytes) {
    Refuse(*stream, kHeadTooLarge);  // the trailer made it so
  }
  if (last && !stream->refused) Dispatch(*stream);
  return 0;
}

void Http2Session::HeadersDone(Http2Stream& stream, bool last) {
  if (stream.long_path) return Refuse(stream, kTargetTooLong);
  if (stream.header_bytes > loop_.options.max_header_bytes) return Refuse(stream, kHeadTooLarge);
  if (stream.path.empty()) return Refuse(stream, kBadRequest);  // CONNECT
  if (stream.length > loop_.options.max_body_bytes) return Refuse(stream, kTooLarge);
  if (stream.expect.empty()) return;
  if (stream.expect != "100-continue") return Refuse(stream, kExpectationFailed);
  if (last) return;
  loop_.CountResponse(100);
  const nghttp2_nv status = Header(":status", "100");
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id, nullptr, &status, 1, nullptr);
}

int Http2Session::OnData(int32_t id, std::string_view data) {
  Http2Stream* const stream = StreamOf(session_, id);
  if (stream == nullptr || stream->refused) return 0;
  const size_t max = loop_.options.max_body_bytes;
  if (stream->body.size() + data.size() > max) {
    Refuse(*stream, kTooLarge);
    return 0;
  }
  if (unfinished_bytes_ + data.size() > kBodiesAtOnce * max) {
    stream->refused = true;
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_ENHANCE_YOUR_CALM);
    return 0;
  }
  unfinished_bytes_ += data.size();
  stream->body.append(data);
  return 0;
}

void Http2Session::Dispatch(Http2Stream& stream) {
  stream.dispatched = true;
  stream.held = true;
  unfinished_bytes_ -= stream.body.size();
  stream.Handle(*this, loop_.handler,
                {stream.method, stream.path, stream.content_type, stream.content_encoding, stream.accept, stream.body,
                 loop_.thread});
}

void Http2Session::Refuse(Http2Stream& stream, int status) {
  stream.refused = true;
  const HttpOwnResponse own = loop_.options.own_response(status, ReasonOf(status));
  Respond(stream, {status, own.content_type, {}}, own.body);
}

void Http2Session::Submit(Http2Stream& stream, const HttpHead& head, bool has_body, bool has_length) {
  loop_.CountResponse(head.status);
  loop_.counts.http2_responses.Add();
  stream.answered = true;
  stream.since = loop_.now;
  std::array<char, 3> digits{};
  std::to_chars(digits.data(), digits.data() + digits.size(), head.status);
  std::array<nghttp2_nv, 5> headers;
  size_t n = 0;
  headers[n++] = Header(":status", {digits.data(), digits.size()}, NGHTTP2_NV_FLAG_NONE);
  headers[n++] = Header("date", {loop_.date.data(), loop_.date.size() - 1});
  if (!head.content_type.empty()) headers[n++] = Header("content-type", head.content_type, NGHTTP2_NV_FLAG_NONE);
  if (!head.field.name.empty()) {
    headers[n] = Header(head.field.name, head.field.value);
    headers[n++].flags = NGHTTP2_NV_FLAG_NONE;  // copied, and then in lower case
  }
  if (has_length) headers[n++] = Header("content-length", stream.length_text);
  nghttp2_data_provider body{};
  body.source.ptr = &stream;
  body.read_callback = ReadResponse;
  // It may be that nghttp2 has already given the stream up: then it tells us in a moment that it is closed.
  nghttp2_submit_response(session_, stream.id, headers.data(), n, has_body ? &body : nullptr);
}

ssize_t Http2Session::ReadResponse(nghttp2_session*, int32_t, uint8_t* out, size_t size, uint32_t* flags,
                                   nghttp2_data_source* source, void* self) {
  return Of(self).Read(*static_cast<Http2Stream*>(source->ptr), out, size, flags);
}

ssize_t Http2Session::Read(Http2Stream& stream, uint8_t* out, size_t size, uint32_t* flags) {
  if (stream.growing && !stream.growing_ended && stream.sent == stream.response.size()) {
    stream.response.clear();
    stream.sent = 0;
    const auto taken = stream.TakeChunks(stream.response);
    if (taken != HttpExchange::Stream::kGoesOn) {
      stream.growing_ended = true;
      stream.held = false;
    }
    if (taken == HttpExchange::Stream::kBroken) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream
  }
  const size_t n = std::min(size, stream.response.size() - stream.sent);
  std::memcpy(out, stream.response.data() + stream.sent, n);
  stream.sent += n;
  stream.since = loop_.now;
  const bool all = stream.sent == stream.response.size();
  if (all && (!stream.growing || stream.growing_ended)) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  } else if (n == 0) {
    stream.deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(n);
}

int Http2Session::OnSent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_RST_STREAM && frame.rst_stream.error_code != NGHTTP2_NO_ERROR &&
      frame.rst_stream.error_code != NGHTTP2_INTERNAL_ERROR) {
    CountReset();
  }
  return 0;
}

int Http2Session::OnClose(int32_t id) {
  Http2Stream* const stream = StreamOf(session_, id);
  if (stream != nullptr) Remove(*stream);
  if (streams_.empty()) idle_since_ = loop_.now;
  return 0;
}

void Http2Session::Remove(Http2Stream& stream) {
  if (!stream.dispatched) unfinished_bytes_ -= stream.body.size();
  const std::shared_ptr<Http2Stream> closed = streams_[stream.place];
  streams_[stream.place] = std::move(streams_.back());
  streams_[stream.place]->place = stream.place;
  streams_.pop_back();
  closed->Detach();
  if (closed->held) {
    orphans_.emplace_back(closed);
  } else {
    unused_.push_back(closed);
  }
}

void Http2Session::CountReset() {
  const Nanos forgiven = (loop_.now - resets_since_) / kNanosPerSecond;
  resets_since_ += forgiven * kNanosPerSecond;
  resets_ -= std::min(resets_, static_cast<size_t>(forgiven));
  if (++resets_ > loop_.options.max_resets) {
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

void Http2Stream::Reset(int32_t the_id, Nanos now) {
  id = the_id;
  since = now;
  for (std::string* text : {&method, &path, &content_type, &content_encoding, &accept, &expect, &body, &response}) {
    text->clear();
    if (text->capacity() > kKeptBytes) std::string().swap(*text);
  }
  header_bytes = length = sent = 0;
  long_path = headers_done = dispatched = held = answered = growing = growing_ended = deferred = refused = false;
}

std::unique_ptr<Session> MakeHttp2Session(LoopState& loop, Wire& wire) {
  return std::make_unique<Http2Session>(loop, wire);
}

}  // namespace cqbench
