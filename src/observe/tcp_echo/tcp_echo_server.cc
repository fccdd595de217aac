#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/descriptor.h"
#include "src/base/sockets.h"
#include "src/observe/tcp_echo/tcp_echo.h"
#include "src/observe/tcp_echo/wire.h"

namespace cqbench {
namespace {

// Reads the hello, then by turns a request and the writing of its response. While a response goes out no request is
// read, so a client that does not take its responses stands still by itself.
struct Peer {
  Descriptor socket;
  Hello hello;  // sizes are 0 until it has been read
  Hello::Bytes hello_bytes{};
  size_t hello_read = 0;
  size_t to_read = 0;
  size_t to_write = 0;
  bool waits_to_write = false;  // what epoll was told
  // True if the last receive or send got as much as it wanted: then the next one may, too.
  bool received_all = false;
  bool sent_all = false;
};

// sendfile() has no flag against it.
void BlockSigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

enum class Io { kGoOn, kClose };

bool IsTemporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

// Made by the starting thread, used by the server's thread alone except for Stop().
class TcpEchoServer::Loop {
 public:
  explicit Loop(std::vector<Descriptor> listeners)
      : listeners_(std::move(listeners)), epoll_(epoll_create1(EPOLL_CLOEXEC)), stop_(eventfd(0, EFD_CLOEXEC)) {
    chunk_.fill('q');
  }

  // False, with errno set, when the kernel refuses something.
  bool Prepare() {
    if (!epoll_.ok() || !stop_.ok() || !Watch(epoll_.fd(), EPOLL_CTL_ADD, stop_.fd(), EPOLLIN, kStopTag)) return false;
    for (size_t i = 0; i < listeners_.size(); ++i) {
      const auto tag = static_cast<uint32_t>(kFirstListenerTag + i);
      if (!Watch(epoll_.fd(), EPOLL_CTL_ADD, listeners_[i].fd(), EPOLLIN, tag)) return false;
    }
    return true;
  }

  // Any thread.
  void Stop() {
    const uint64_t one = 1;
    // Cannot fail: the eventfd is written once.
    if (write(stop_.fd(), &one, sizeof(one)) != sizeof(one)) std::abort();
  }

  void Run() {
    BlockSigpipe();
    std::array<epoll_event, kMaxConnections> events;
    while (true) {
      const int ready = epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()), TimeoutMs());
      if (accept_again_at_ns_ > 0 && NowNs() >= accept_again_at_ns_) WatchListeners(true);
      for (int i = 0; i < ready; ++i) {
        const uint32_t tag = events[static_cast<size_t>(i)].data.u32;
        if (tag == kStopTag) return;
        if (tag >= kFirstListenerTag) {
          Accept(listeners_[tag - kFirstListenerTag]);
        } else {
          Serve(peers_[tag]);
        }
      }
    }
  }

 private:
  // Tags below are the places of connections.
  static constexpr uint32_t kFirstListenerTag = kMaxConnections;
  static constexpr uint32_t kStopTag = UINT32_MAX;
  static constexpr int kPieces = 16;
  static constexpr Nanos kAcceptBackOff = 100 * kNanosPerMilli;
  static constexpr size_t kFileBytes = 1 << 20;

  int TimeoutMs() const {
    if (spinning_ > 0) return 0;
    return accept_again_at_ns_ > 0 ? static_cast<int>(kAcceptBackOff / kNanosPerMilli) : -1;
  }

  // Cannot fail: listeners stay registered.
  void WatchListeners(bool watch) {
    accept_again_at_ns_ = watch ? 0 : NowNs() + kAcceptBackOff;
    const uint32_t events = watch ? EPOLLIN : 0U;
    for (size_t i = 0; i < listeners_.size(); ++i) {
      const auto tag = static_cast<uint32_t>(kFirstListenerTag + i);
      if (!Watch(epoll_.fd(), EPOLL_CTL_MOD, listeners_[i].fd(), events, tag)) std::abort();
    }
  }

  // One at a time: epoll reports the listener again while more are waiting. Where nobody can be taken, because no
  // descriptors or no memory are left, epoll would report it without end. So the listeners rest: whoever waits is taken
  // when some are free again.
  void Accept(const Descriptor& listener) {
    Descriptor socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.ok()) {
      if (errno != EINTR && errno != ECONNABORTED) WatchListeners(false);
      return;
    }
    const auto place = std::find_if(peers_.begin(), peers_.end(), [](const Peer& p) { return !p.socket.ok(); });
    if (place == peers_.end()) return;
    SetNoDelay(socket.fd());
    const auto tag = static_cast<uint32_t>(place - peers_.begin());
    if (!Watch(epoll_.fd(), EPOLL_CTL_ADD, socket.fd(), EPOLLIN, tag)) return;
    place->socket = std::move(socket);
  }

  // At most kPieces receives and sends, so that no connection keeps the others waiting.
  void Serve(Peer& peer) {
    Io io = Io::kGoOn;
    if (peer.to_write == 0) io = Receive(peer);
    for (int i = 1; i < kPieces && io == Io::kGoOn && peer.received_all && peer.to_read > 0; ++i) io = Receive(peer);
    if (io == Io::kGoOn && peer.to_write > 0) io = Send(peer);
    for (int i = 1; i < kPieces && io == Io::kGoOn && peer.sent_all && peer.to_write > 0; ++i) io = Send(peer);
    if (io == Io::kGoOn) io = WatchNext(peer);
    if (io == Io::kClose) Close(peer);
  }

  Io Receive(Peer& peer) {
    const bool hello = peer.hello.request_bytes == 0;
    char* const into = hello ? peer.hello_bytes.data() + peer.hello_read : scratch_.data();
    const size_t wanted = hello ? peer.hello_bytes.size() - peer.hello_read : std::min(peer.to_read, scratch_.size());
    const ssize_t got = recv(peer.socket.fd(), into, wanted, 0);
    peer.received_all = !hello && got == static_cast<ssize_t>(wanted);
    if (got == 0) return Io::kClose;
    if (got < 0) return IsTemporary(errno) ? Io::kGoOn : Io::kClose;
    if (hello) return HelloCame(peer, static_cast<size_t>(got));
    peer.to_read -= static_cast<size_t>(got);
    if (peer.to_read == 0) peer.to_write = peer.hello.response_bytes;
    return Io::kGoOn;
  }

  Io HelloCame(Peer& peer, size_t bytes) {
    peer.hello_read += bytes;
    if (peer.hello_read < peer.hello_bytes.size()) return Io::kGoOn;
    const std::optional<Hello> hello = Decode(peer.hello_bytes);
    if (!hello || (hello->sendfile && !MakeFile())) return Io::kClose;
    peer.hello = *hello;
    peer.to_read = hello->request_bytes;
    if (hello->spin) ++spinning_;
    return Io::kGoOn;
  }

  Io Send(Peer& peer) {
    const bool from_file = peer.hello.sendfile;
    const size_t bytes = std::min(peer.to_write, from_file ? kFileBytes : chunk_.size());
    const ssize_t sent =
        from_file ? SendFromFile(peer, bytes) : send(peer.socket.fd(), chunk_.data(), bytes, MSG_NOSIGNAL);
    peer.sent_all = sent == static_cast<ssize_t>(bytes);
    if (sent < 0) return IsTemporary(errno) ? Io::kGoOn : Io::kClose;
    peer.to_write -= static_cast<size_t>(sent);
    if (peer.to_write == 0) peer.to_read = peer.hello.request_bytes;
    return Io::kGoOn;
  }

  ssize_t SendFromFile(const Peer& peer, size_t bytes) const {
    off_t offset = 0;
    return sendfile(peer.socket.fd(), file_.fd(), &offset, bytes);
  }
  // At the first connection that wants it.
  bool MakeFile() {
    if (file_.ok()) return true;
    file_ = Descriptor(memfd_create("cqbench-bulk", MFD_CLOEXEC));
    if (!file_.ok()) return false;
    const std::vector<char> content(kFileBytes, 'q');
    return write(file_.fd(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
  }

  // Costs a call only where a response did not go out at once.
  Io WatchNext(Peer& peer) {
    const bool write = peer.to_write > 0;
    if (write == peer.waits_to_write) return Io::kGoOn;
    peer.waits_to_write = write;
    const auto tag = static_cast<uint32_t>(&peer - peers_.data());
    const uint32_t events = write ? EPOLLOUT : EPOLLIN;
    return Watch(epoll_.fd(), EPOLL_CTL_MOD, peer.socket.fd(), events, tag) ? Io::kGoOn : Io::kClose;
  }

  void Close(Peer& peer) {
    if (peer.hello.spin) --spinning_;
    peer = Peer();
  }

  const std::vector<Descriptor> listeners_;
  const Descriptor epoll_;
  const Descriptor stop_;
  std::array<Peer, kMaxConnections> peers_;
  int spinning_ = 0;
  Nanos accept_again_at_ns_ = 0;  // 0: listeners are watched
  Descriptor file_;
  std::array<char, kChunkBytes> chunk_;    // what every response consists of
  std::array<char, kChunkBytes> scratch_;  // where requests go
};

absl::StatusOr<std::unique_ptr<TcpEchoServer>> TcpEchoServer::Start(const Target& listen) {
  auto listeners = ListenOn(listen);
  if (!listeners.ok()) return listeners.status();
  auto loop = std::make_unique<Loop>(std::move(listeners->sockets));
  int error = loop->Prepare() ? 0 : errno;
  if (error == 0) {
    try {
      return std::unique_ptr<TcpEchoServer>(new TcpEchoServer(std::move(loop), listeners->port));
    } catch (const std::system_error& no_thread) {
      error = no_thread.code().value();
    }
  }
  return absl::UnavailableError(absl::StrCat("cannot serve ", listen.ToString(), ": ", std::strerror(error)));
}

TcpEchoServer::TcpEchoServer(std::unique_ptr<Loop> loop, int port)
    : loop_(std::move(loop)), port_(port), thread_([this] { loop_->Run(); }) {
  pthread_setname_np(thread_.native_handle(), "tcp-echo");
}

TcpEchoServer::~TcpEchoServer() {
  loop_->Stop();
  thread_.join();
}

}  // namespace cqbench
