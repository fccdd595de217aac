#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/http/client/http_wire.h"

namespace cqbench {
namespace {

// Flow-control window of a stream: so large that no response of a benchmark waits for an update.
constexpr int32_t kStreamWindow = 1 << 20;
constexpr int32_t kConnectionWindow = 16 << 20;

HttpSlot* SlotOf(nghttp2_session* session, int32_t stream) {
  return static_cast<HttpSlot*>(nghttp2_session_get_stream_user_data(session, stream));
}

nghttp2_nv Field(const std::pair<std::string, std::string>& field) {
  // The library does not write there.
  const auto bytes = [](const std::string& text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  return {bytes(field.first), bytes(field.second), field.first.size(), field.second.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

}  // namespace

struct Http2Wire::Callbacks {
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name, size_t name_length,
                      const uint8_t* value, size_t value_length, uint8_t /*flags*/, void* /*wire*/) {
    if (name_length != 7 || std::memcmp(name, ":status", 7) != 0) return 0;
    HttpSlot* const slot = SlotOf(session, frame->hd.stream_id);
    if (slot == nullptr) return 0;
    if (!absl::SimpleAtoi(absl::string_view(reinterpret_cast<const char*>(value), value_length), &slot->status)) {
      slot->status = 0;
    }
    return 0;
  }
  static int OnData(nghttp2_session* session, uint8_t /*flags*/, int32_t stream, const uint8_t* bytes, size_t length,
                    void* wire) {
    HttpSlot* const slot = SlotOf(session, stream);
    if (slot == nullptr) return 0;
    slot->body.Take(static_cast<Http2Wire*>(wire)->message_.expected(), {reinterpret_cast<const char*>(bytes), length});
    return 0;
  }
  static int OnFrame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* wire) {
    if (frame->hd.type == NGHTTP2_GOAWAY) static_cast<Http2Wire*>(wire)->goes_away_ = true;
    return 0;
  }
  static int OnClose(nghttp2_session* session, int32_t stream, uint32_t error, void* wire) {
    HttpSlot* const slot = SlotOf(session, stream);
    std::vector<HttpEnded>* const ended = static_cast<Http2Wire*>(wire)->ended_;
    if (slot == nullptr || ended == nullptr) return 0;  // a call that was abandoned
    // The library closes streams above GOAWAY's last one as refused, and those that it cannot open any more by itself.
    const auto* self = static_cast<Http2Wire*>(wire);
    const bool unsent = self->pulling_ && error != NGHTTP2_NO_ERROR;
    ended->push_back({slot, error == NGHTTP2_NO_ERROR ? slot->status : 0, unsent || error == NGHTTP2_REFUSED_STREAM});
    return 0;
  }
  static ssize_t ReadBody(nghttp2_session* /*session*/, int32_t /*stream*/, uint8_t* into, size_t length,
                          uint32_t* flags, nghttp2_data_source* source, void* wire) {
    HttpSlot& slot = *static_cast<HttpSlot*>(source->ptr);
    const std::string& body = static_cast<Http2Wire*>(wire)->message_.body();
    const size_t some = std::min(length, body.size() - slot.body_sent);
    std::memcpy(into, body.data() + slot.body_sent, some);
    slot.body_sent += some;
    if (slot.body_sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(some);
  }
};

Http2Wire::Http2Wire(const HttpMessage& message) : message_(message) {
  Reset();
}

Http2Wire::~Http2Wire() {
  nghttp2_session_del(session_);
}

void Http2Wire::Reset() {
  nghttp2_session_del(session_);
  closing_ = false;
  goes_away_ = false;
  nghttp2_session_callbacks* callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) throw std::bad_alloc();
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  if (!message_.expected().empty()) {
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  }
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnClose);
  const int made = nghttp2_session_client_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  if (made != 0) throw std::bad_alloc();
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

void Http2Wire::Submit(HttpSlot& slot, std::string& /*out: by Pull()*/) {
  slot.status = 0;
  slot.body_sent = 0;
  slot.body.Reset();
  constexpr size_t kMost = 128;
  nghttp2_nv fields[kMost];
  const size_t count = std::min(kMost, message_.fields().size());
  for (size_t i = 0; i < count; ++i) fields[i] = Field(message_.fields()[i]);
  nghttp2_data_provider body{};
  body.source.ptr = &slot;
  body.read_callback = Callbacks::ReadBody;
  slot.stream =
      nghttp2_submit_request(session_, nullptr, fields, count, message_.body().empty() ? nullptr : &body, &slot);
  if (slot.stream < 0) closing_ = true;  // all numbers of streams are used up
}

void Http2Wire::Pull(std::string& out, std::vector<HttpEnded>& ended) {
  ended_ = &ended;
  pulling_ = true;
  for (;;) {
    const uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_, &bytes);
    if (count <= 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
  }
  ended_ = nullptr;
  pulling_ = false;
  // The library has found a fault in what came, and has said goodbye by now; or GOAWAY has come, and no call is left.
  if (nghttp2_session_want_read(session_) == 0) closing_ = true;
}

std::string Http2Wire::Feed(std::string_view bytes, std::vector<HttpEnded>& ended) {
  ended_ = &ended;
  const ssize_t used = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  ended_ = nullptr;
  if (used >= 0) return "";
  return absl::StrCat("the server's response is no HTTP/2: ", nghttp2_strerror(static_cast<int>(used)));
}

bool Http2Wire::Abandon(HttpSlot& slot) {
  nghttp2_session_set_stream_user_data(session_, slot.stream, nullptr);
  return nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, slot.stream, NGHTTP2_CANCEL) == 0;
}

}  // namespace cqbench
