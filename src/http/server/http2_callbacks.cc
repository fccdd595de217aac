// nghttp2's callbacks and settings.
#include "src/http/server/http2_session.h"

namespace cqbench {
namespace {

// Acknowledgements of SETTINGS and PING that may wait to be written.
constexpr size_t kMaxAcknowledgements = 100;

std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

const nghttp2_option* Http2Session::Options() {
  static const nghttp2_option* const options = [] {
    nghttp2_option* made = nullptr;
    Must(nghttp2_option_new(&made));
    nghttp2_option_set_max_outbound_ack(made, kMaxAcknowledgements);
    nghttp2_option_set_no_closed_streams(made, 1);
    return made;
  }();
  return options;
}

const nghttp2_session_callbacks* Http2Session::Callbacks() {
  static const nghttp2_session_callbacks* const callbacks = [] {
    nghttp2_session_callbacks* made = nullptr;
    Must(nghttp2_session_callbacks_new(&made));
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* self) { return Of(self).OnBeginHeaders(*frame); });
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                 const uint8_t* value, size_t value_size, uint8_t,
                 void* self) { return Of(self).OnHeader(*frame, View(name, name_size), View(value, value_size)); });
    // Without it, newer releases leave such a field out and go on; RFC 9113 has the request as malformed.
    nghttp2_session_callbacks_set_on_invalid_header_callback(
        made,
        [](nghttp2_session*, const nghttp2_frame*, const uint8_t*, size_t, const uint8_t*, size_t, uint8_t,
           void*) -> int { return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* self) { return Of(self).OnFrame(*frame); });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* self) {
          return Of(self).OnData(id, View(data, size));
        });
    nghttp2_session_callbacks_set_on_frame_send_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* self) { return Of(self).OnSent(*frame); });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        made, [](nghttp2_session*, int32_t id, uint32_t, void* self) { return Of(self).OnClose(id); });
    return made;
  }();
  return callbacks;
}

}  // namespace cqbench
