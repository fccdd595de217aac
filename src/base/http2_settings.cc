#include "src/base/http2_settings.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

constexpr unsigned char kSettings = 4;  // a frame's type
constexpr unsigned char kAck = 1;       // a flag of that frame
constexpr size_t kEntryBytes = 6;
// Identifiers of settings, and the range of their values.
constexpr uint32_t kMaxConcurrentStreams = 3, kInitialWindow = 4, kMaxFrame = 5, kMaxHeaderList = 6;
constexpr uint32_t kMaxWindow = 0x7fffffff;
constexpr uint32_t kMinFrame = 16'384, kMaxFrameLength = 0xffffff;

uint32_t Number(absl::string_view bytes) {
  uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

absl::Status Refuse(const auto&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckHeader(absl::string_view header) {
  if (absl::StartsWith(header, "HTTP/1.")) return Refuse("the server responds with HTTP/1");
  if (header[3] != kSettings) {
    return Refuse("the server does not begin with an HTTP/2 SETTINGS frame: its first frame has type ",
                  static_cast<unsigned char>(header[3]));
  }
  const uint32_t length = Number(header.substr(0, 3)), stream = Number(header.substr(5)) & kMaxWindow;
  if ((static_cast<unsigned char>(header[4]) & kAck) != 0) {
    return Refuse("the server's first SETTINGS frame is an acknowledgement");
  }
  if (stream != 0) return Refuse("the server's SETTINGS frame is on stream ", stream, "; 0 is accepted");
  if (length > kMaxFirstFrameBytes - kHttp2FrameHeaderBytes) {
    return Refuse("the server's SETTINGS frame has ", length, " bytes; at most 16384 are accepted");
  }
  if (length % kEntryBytes != 0) {
    return Refuse("the server's SETTINGS frame has ", length, " bytes; a multiple of 6 is accepted");
  }
  return absl::OkStatus();
}

absl::Status Take(uint32_t identifier, uint32_t value, Http2Settings& settings) {
  switch (identifier) {
    case kMaxConcurrentStreams:
      settings.max_concurrent_streams = value;
      break;
    case kInitialWindow:
      if (value > kMaxWindow) {
        return Refuse("the server's initial window is ", value, " bytes; at most ", kMaxWindow, " are accepted");
      }
      settings.initial_window_bytes = value;
      break;
    case kMaxFrame:
      if (value < kMinFrame || value > kMaxFrameLength) {
        return Refuse("the server's maximum frame size is ", value, " bytes; ", kMinFrame, " to ", kMaxFrameLength,
                      " are accepted");
      }
      settings.max_frame_bytes = value;
      break;
    case kMaxHeaderList:
      settings.max_header_list_bytes = value;
      break;
    default:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view Http2Hello() {
  static constexpr char kHello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
  return {kHello, sizeof(kHello)};  // the terminating zero is the frame's last byte
}

absl::string_view Http2Goodbye() {
  static constexpr char kGoodbye[] =
      "\0\0\0\4\1\0\0\0\0"   // SETTINGS, acknowledged
      "\0\0\10\7\0\0\0\0\0"  // GOAWAY: no stream, no error
      "\0\0\0\0\0\0\0";
  return {kGoodbye, sizeof(kGoodbye)};
}

absl::StatusOr<std::optional<Http2Settings>> ReadFirstSettings(absl::string_view received) {
  if (received.size() < kHttp2FrameHeaderBytes) return std::nullopt;
  const absl::string_view header = received.substr(0, kHttp2FrameHeaderBytes);
  if (const absl::Status right = CheckHeader(header); !right.ok()) return right;
  const size_t length = Number(header.substr(0, 3));
  absl::string_view entries = received.substr(kHttp2FrameHeaderBytes);
  if (entries.size() < length) return std::nullopt;
  Http2Settings settings;
  for (entries = entries.substr(0, length); !entries.empty(); entries.remove_prefix(kEntryBytes)) {
    const absl::Status taken = Take(Number(entries.substr(0, 2)), Number(entries.substr(2, 4)), settings);
    if (!taken.ok()) return taken;
  }
  return settings;
}

}  // namespace cqbench
