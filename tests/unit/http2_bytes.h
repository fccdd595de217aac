// HTTP/2 by hand: frames as bytes, and a client without a socket that uses a library.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cqbench {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum FrameType : uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kWindow = 8, kMore = 9 };
inline constexpr uint8_t kEndStream = 1;
inline constexpr uint8_t kEndHeaders = 4;

inline std::string Number(uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

inline std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload = {}) {
  return Number(static_cast<uint32_t>(payload.size())).substr(1) + static_cast<char>(type) + static_cast<char>(flags) +
         Number(stream) + std::string(payload);
}

// Encodes a request header in HPACK, without compression; name and value are shorter than 127.
inline std::string Field(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + std::string(name) + static_cast<char>(value.size()) +
         std::string(value);
}

inline std::string RequestFields(std::string_view method, std::string_view path) {
  return Field(":method", method) + Field(":scheme", "http") + Field(":path", path) + Field(":authority", "x");
}

inline std::string Start() {
  return std::string(kPreface) + Frame(kSettings, 0, 0);
}

// The response on a stream.
struct Answer {
  std::map<std::string, std::string> headers;
  std::string body;
  bool closed = false;
  uint32_t error = 0;
};

class MemoryClient {
 public:
  MemoryClient() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* self) {
          Of(self).answers_[frame->hd.stream_id].headers[Text(name, name_size)] = Text(value, value_size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* self) {
          Of(self).answers_[id].body += Text(data, size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, int32_t id, uint32_t error, void* self) {
          Of(self).answers_[id].closed = true;
          Of(self).answers_[id].error = error;
          return 0;
        });
    if (nghttp2_session_client_new(&session_, callbacks, this) != 0) std::abort();
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, 0, nullptr, 0);
  }
  MemoryClient(const MemoryClient&) = delete;
  MemoryClient& operator=(const MemoryClient&) = delete;
  ~MemoryClient() { nghttp2_session_del(session_); }

  // Sends a request and returns its stream's number.
  int32_t Request(const std::string& method, const std::string& path, const std::string& body = "",
                  const std::vector<std::pair<std::string, std::string>>& more = {}) {
    std::vector<std::pair<std::string, std::string>> fields = {
        {":method", method}, {":scheme", "http"}, {":path", path}, {":authority", "x"}};
    fields.insert(fields.end(), more.begin(), more.end());
    std::vector<nghttp2_nv> headers;
    for (auto& [name, value] : fields) headers.push_back({Bytes(name), Bytes(value), name.size(), value.size(), 0});
    nghttp2_data_provider provider{};
    bodies_.push_back(std::make_unique<std::string>(body));
    provider.source.ptr = bodies_.back().get();
    provider.read_callback = [](nghttp2_session*, int32_t, uint8_t* out, size_t size, uint32_t* flags,
                                nghttp2_data_source* source, void*) {
      auto& left = *static_cast<std::string*>(source->ptr);
      const size_t n = left.copy(reinterpret_cast<char*>(out), size);
      left.erase(0, n);
      if (left.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(n);
    };
    return nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(), body.empty() ? nullptr : &provider,
                                  nullptr);
  }

  std::string Take() {
    std::string all;
    const uint8_t* data = nullptr;
    for (ssize_t n; (n = nghttp2_session_mem_send(session_, &data)) > 0;) all += Text(data, static_cast<size_t>(n));
    return all;
  }
  // Returns false if the server's bytes are not HTTP/2.
  bool Feed(std::string_view bytes) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) ==
           static_cast<ssize_t>(bytes.size());
  }
  Answer& On(int32_t stream) { return answers_[stream]; }
  nghttp2_session* session() { return session_; }

 private:
  static MemoryClient& Of(void* self) { return *static_cast<MemoryClient*>(self); }
  static std::string Text(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }
  static uint8_t* Bytes(std::string& text) { return reinterpret_cast<uint8_t*>(text.data()); }

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Answer> answers_;
  std::vector<std::unique_ptr<std::string>> bodies_;
};

}  // namespace cqbench
