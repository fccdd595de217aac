// The library's methods over HTTP and JSON, next to a gRPC server: a front end takes requests, a transcoder converts
// them into messages, a backend responds to these.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/channel_policy.h"
#include "cqbench/server.h"
#include "src/base/clock.h"
#include "src/base/enum_names.h"
#include "src/base/target.h"
#include "src/http/server/http_server.h"

namespace cqbench {

// Finds the method, makes its request, and makes JSON of its response.
enum class TranscoderKind {
  kDescriptor,   // the google.api.http rules, read when the server starts
  kHandwritten,  // code for each method
  kNone,         // nothing: every request is answered with the same book, which is what the front end alone costs
};
constexpr auto NamesOf(TranscoderKind) {
  return std::to_array<EnumName<TranscoderKind>>({{TranscoderKind::kDescriptor, "descriptor"},
                                                  {TranscoderKind::kHandwritten, "handwritten"},
                                                  {TranscoderKind::kNone, "none"}});
}

// Answers messages.
enum class BackendKind {
  kDirect,     // the methods' handlers, on the front end's own threads
  kInProcess,  // the gRPC server, through a channel without a socket; streams are refused (501)
  kLoopback,   // a gRPC server, through channels over TCP, as in a proxy
};
constexpr auto NamesOf(BackendKind) {
  return std::to_array<EnumName<BackendKind>>(
      {{BackendKind::kDirect, "direct"}, {BackendKind::kInProcess, "inprocess"}, {BackendKind::kLoopback, "loopback"}});
}

struct GatewayConfig {
  Target listen{"localhost", 0, ""};  // port 0: a free one
  int threads = 1;
  TranscoderKind transcoder = TranscoderKind::kDescriptor;
  BackendKind backend = BackendKind::kDirect;
  // For kLoopback only. Without a target the gateway calls its own server, at its first address.
  std::optional<Target> target;
  int channels = 1;  // taken in turn
  ChannelPolicy policy{ChannelPolicy::Kind::kShared};
  Nanos deadline_ns = 5 * kNanosPerSecond;  // of each call to a backend that is not direct
  // How messages live. kBytes, which they cannot here, is kReused.
  MessageStrategy messages = MessageStrategy::kReused;
};

// One thread: the one that started it.
class Gateway {
 public:
  // Serves when it returns. `server` must outlive it; it counts what is answered here as its own
  // (PingServer::AddHttpFrontEnd). Errors are those of HttpServer::Start(), and UNAVAILABLE when the backend cannot be
  // reached.
  static absl::StatusOr<std::unique_ptr<Gateway>> Start(const GatewayConfig& config, PingServer& server);
  virtual ~Gateway() = default;
  // The port is resolved.
  virtual const Target& address() const = 0;
  // Takes no more requests and lets those that there are end: blocks for a little more than their deadline at most.
  virtual void Stop() = 0;
  virtual HttpCounts counts() const = 0;
  // A line for each google.api.http rule that is not served: the method, the path and the reason.
  virtual std::vector<std::string> refused_rules() const { return {}; }
};

}  // namespace cqbench
