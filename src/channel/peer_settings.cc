#include "src/channel/peer_settings.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/sockets.h"
#include "src/channel/tls_session.h"

namespace cqbench {
namespace {

constexpr Nanos kSettingsPatience = kNanosPerSecond;  // for one server
constexpr Nanos kAllServersPatience = 5 * kNanosPerSecond;
constexpr Nanos kClosePatience = 250 * kNanosPerMilli;
constexpr size_t kMaxBytesAtClose = 64 << 10;

// A connection of our own, with or without TLS.
class Connection {
 public:
  enum class Received { kBytes, kEnd, kTimeout };

  Connection(const Endpoint& endpoint, Nanos give_up_at)
      : give_up_at_(give_up_at),
        socket_(BeginConnect(endpoint)),
        error_(socket_.ok() ? FinishConnect(socket_, {give_up_at}) : errno) {}

  int error() const { return error_; }  // 0: connected

  // Returns false if the handshake fails or takes too long.
  bool StartTls(const Security& security, const std::string& server_name) {
    tls_.emplace(security, server_name, socket_.fd());
    return tls_->Carry(give_up_at_, SSL_connect) == SSL_ERROR_NONE;
  }

  bool Send(absl::string_view bytes) {
    const auto write = [&](SSL* ssl) { return SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size())); };
    if (tls_) return tls_->Carry(give_up_at_, write) == SSL_ERROR_NONE;
    // The socket is new, so that a few bytes find room in it.
    return send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  // Appends at most `most` bytes.
  Received Receive(std::string& into, size_t most) {
    std::array<char, 4096> buffer;
    most = std::min(most, buffer.size());
    ssize_t got = 0;
    if (tls_) {
      const auto read = [&](SSL* ssl) {
        return static_cast<int>(got = SSL_read(ssl, buffer.data(), static_cast<int>(most)));
      };
      const int error = tls_->Carry(give_up_at_, read);
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Received::kTimeout;
    } else {
      if (!AwaitEvents(socket_.fd(), POLLIN, give_up_at_)) return Received::kTimeout;
      got = recv(socket_.fd(), buffer.data(), most, 0);
    }
    if (got <= 0) return Received::kEnd;
    into.append(buffer.data(), static_cast<size_t>(got));
    return Received::kBytes;
  }

  // Ends the connection in order. The server has closed it, too, when this returns, unless that takes too long: until
  // then the server would count one connection too many.
  void Close() {
    Send(Http2Goodbye());
    if (tls_) SSL_shutdown(tls_->ssl());
    shutdown(socket_.fd(), SHUT_WR);
    const Nanos give_up_at = NowNs() + kClosePatience;
    std::array<char, 4096> dropped;
    for (size_t bytes = 0; bytes < kMaxBytesAtClose && AwaitEvents(socket_.fd(), POLLIN, give_up_at);) {
      const ssize_t got = recv(socket_.fd(), dropped.data(), dropped.size(), 0);
      if (got <= 0) return;
      bytes += static_cast<size_t>(got);
    }
  }

 private:
  const Nanos give_up_at_;
  const Descriptor socket_;
  const int error_;
  std::optional<TlsSession> tls_;
};

absl::StatusOr<Http2Settings> ReceiveSettings(Connection& connection) {
  std::string received;
  for (;;) {
    const auto settings = ReadFirstSettings(received);
    if (!settings.ok()) return settings.status();
    if (*settings) return **settings;
    switch (connection.Receive(received, kMaxFirstFrameBytes - received.size())) {
      case Connection::Received::kBytes:
        break;
      case Connection::Received::kEnd:
        return absl::UnavailableError("the server closed the connection before it had sent its settings");
      case Connection::Received::kTimeout:
        return absl::DeadlineExceededError("the server did not send its settings within a second");
    }
  }
}

absl::StatusOr<Http2Settings> ReadFrom(const Endpoint& endpoint, const Target& target, const Security& security,
                                       Nanos give_up_at) {
  Connection connection(endpoint, give_up_at);
  if (connection.error() != 0) {
    return absl::NotFoundError(absl::StrCat("a further connection failed: ", std::strerror(connection.error())));
  }
  if (security.tls && !connection.StartTls(security, ServerNameOf(target, security))) {
    return absl::UnavailableError("the TLS handshake of a further connection failed");
  }
  if (!connection.Send(Http2Hello())) {
    return absl::UnavailableError("the server closed a further connection at once");
  }
  auto settings = ReceiveSettings(connection);
  connection.Close();
  return settings;
}

// Tries the target's addresses in turn, until one can be connected to.
absl::StatusOr<Http2Settings> ReadFrom(const Target& target, const Security& security, Nanos give_up_at) {
  const auto endpoints = ResolveTargets({target});
  if (!endpoints.ok()) return endpoints.status();
  absl::StatusOr<Http2Settings> settings = absl::NotFoundError("the server has no address");
  for (const Endpoint& endpoint : *endpoints) {
    settings = ReadFrom(endpoint, target, security, give_up_at);
    if (!absl::IsNotFound(settings.status())) break;
  }
  return settings;
}

}  // namespace

std::vector<PeerSettings> ReadPeerSettings(const RunConfig& config) {
  std::vector<PeerSettings> peers;
  const Nanos all_give_up_at = NowNs() + kAllServersPatience;
  for (const Target& target : config.targets) {
    PeerSettings& peer = peers.emplace_back(PeerSettings{target.ToString(), {}, ""});
    const Nanos now = NowNs();
    if (config.api == ClientApi::kHttp1) {
      peer.not_read = "calls are HTTP/1.1, which has no settings";
    } else if (now >= all_give_up_at) {
      peer.not_read = "the servers before this one took too long";
    } else {
      const auto settings = ReadFrom(target, config.security, std::min(now + kSettingsPatience, all_give_up_at));
      if (settings.ok()) peer.announced = *settings;
      if (!settings.ok()) peer.not_read = std::string(settings.status().message());
    }
  }
  return peers;
}

}  // namespace cqbench
