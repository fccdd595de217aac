#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/descriptor.h"
#include "src/config/messages.h"
#include "src/observe/tcp_echo/tcp_echo.h"
#include "src/observe/tcp_echo/wire.h"

namespace cqbench {
namespace {

constexpr int kAskStopEveryMs = 10;
constexpr Nanos kConnectTimeout = 5 * kNanosPerSecond;

std::string ToString(const Endpoint& endpoint) {
  char host[NI_MAXHOST] = "?";
  char port[NI_MAXSERV] = "0";
  getnameinfo(SocketAddress(endpoint), endpoint.length, host, sizeof(host), port, sizeof(port),
              NI_NUMERICHOST | NI_NUMERICSERV);
  return Target{host, std::atoi(port), ""}.ToString();
}

// One run. CANCELLED from a member function means that stop() has said so.
class PingPong {
 public:
  PingPong(const TcpPingPongConfig& config, const std::function<bool()>& stop)
      : config_(config), stop_(stop), chunk_(kChunkBytes, 'q') {}

  // Also sends the hello.
  absl::Status Connect() {
    epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_.ok()) return CannotConnect(errno);
    socket_ = BeginConnect(config_.endpoint);
    const int error = socket_.ok() ? FinishConnect(socket_, {NowNs() + kConnectTimeout, stop_}) : errno;
    if (error == ECANCELED) return absl::CancelledError();
    if (error != 0) return CannotConnect(error);
    if (!Watch(epoll_.fd(), EPOLL_CTL_ADD, socket_.fd(), EPOLLIN, 0)) return CannotConnect(errno);
    return SendHello();
  }

  absl::Status Run(const RunWindow& window, Recorder& recorder) {
    while (true) {
      const Nanos sent = NowNs();
      if (window.IsOver(sent)) return absl::OkStatus();
      if (MustStop(sent)) return absl::CancelledError();
      if (absl::Status status = SendRequest(); !status.ok()) return status;
      if (absl::Status status = ReceiveResponse(); !status.ok()) return status;
      const Nanos done = NowNs();
      recorder.Sent(sent);  // only now: what never came back is not recorded
      recorder.Success({sent, sent, done});
    }
  }

 private:
  absl::Status CannotConnect(int error) const {
    return absl::UnavailableError(
        absl::StrCat("cannot connect to ", ToString(config_.endpoint), ": ", std::strerror(error)));
  }
  // If the other side ends, the error depends on the bytes that were on the way.
  absl::Status Broken(int error) const {
    const bool closed = error == 0 || error == ECONNRESET || error == EPIPE;
    return absl::UnavailableError(absl::StrCat("connection to ", ToString(config_.endpoint), ": ",
                                               closed ? "closed by the server" : std::strerror(error)));
  }

  bool MustStop(Nanos now) {
    if (now < ask_stop_at_) return false;
    ask_stop_at_ = now + kAskStopEveryMs * kNanosPerMilli;
    return stop_();
  }

  // Blocks until the socket is ready for what is watched.
  absl::Status Wait() {
    const int timeout_ms = config_.poll == PollMode::kSpin ? 0 : kAskStopEveryMs;
    while (true) {
      epoll_event event;
      const int ready = epoll_wait(epoll_.fd(), &event, 1, timeout_ms);
      if (ready > 0) return absl::OkStatus();
      if (ready < 0 && errno != EINTR) return Broken(errno);
      if (MustStop(NowNs())) return absl::CancelledError();
    }
  }

  absl::Status WaitUntilWritable() {
    if (!Watch(epoll_.fd(), EPOLL_CTL_MOD, socket_.fd(), EPOLLOUT, 0)) return Broken(errno);
    if (absl::Status status = Wait(); !status.ok()) return status;
    return Watch(epoll_.fd(), EPOLL_CTL_MOD, socket_.fd(), EPOLLIN, 0) ? absl::OkStatus() : Broken(errno);
  }

  // The first bytes on a connection always fit.
  absl::Status SendHello() {
    const Hello::Bytes hello =
        Encode({config_.request_bytes, config_.response_bytes, config_.poll == PollMode::kSpin, config_.sendfile});
    const ssize_t sent = send(socket_.fd(), hello.data(), hello.size(), MSG_NOSIGNAL);
    return sent == static_cast<ssize_t>(hello.size()) ? absl::OkStatus() : Broken(sent < 0 ? errno : EMSGSIZE);
  }

  absl::Status SendRequest() {
    for (size_t left = config_.request_bytes; left > 0;) {
      const ssize_t sent = send(socket_.fd(), chunk_.data(), std::min(left, chunk_.size()), MSG_NOSIGNAL);
      if (sent >= 0) {
        left -= static_cast<size_t>(sent);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (absl::Status status = WaitUntilWritable(); !status.ok()) return status;
      } else if (errno != EINTR) {
        return Broken(errno);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReceiveResponse() {
    bool wait = true;
    for (size_t left = config_.response_bytes; left > 0;) {
      if (wait) {
        if (absl::Status status = Wait(); !status.ok()) return status;
      }
      const size_t wanted = std::min(left, chunk_.size());
      const ssize_t got = recv(socket_.fd(), chunk_.data(), wanted, 0);
      if (got == 0) return Broken(0);
      wait = got < static_cast<ssize_t>(wanted);  // else there may be more already
      if (got > 0) {
        left -= static_cast<size_t>(got);
      } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        return Broken(errno);
      }
    }
    return absl::OkStatus();
  }

  const TcpPingPongConfig& config_;
  const std::function<bool()>& stop_;
  Nanos ask_stop_at_ = 0;
  Descriptor epoll_;
  Descriptor socket_;
  std::vector<char> chunk_;  // requests go out of it and responses into it: the contents do not matter
};

}  // namespace

absl::Status RunTcpPingPong(const TcpPingPongConfig& config, const RunWindow& window, const std::function<bool()>& stop,
                            Recorder& recorder) {
  if (!IsMessageSize(config.request_bytes) || !IsMessageSize(config.response_bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("a request of ", config.request_bytes, " and a response of ",
                                                   config.response_bytes, " bytes: 1 to ", kMaxPayloadBytes,
                                                   " are accepted"));
  }
  PingPong ping_pong(config, stop);
  absl::Status status = ping_pong.Connect();
  if (status.ok()) status = ping_pong.Run(window, recorder);
  return absl::IsCancelled(status) ? absl::OkStatus() : status;
}

}  // namespace cqbench
