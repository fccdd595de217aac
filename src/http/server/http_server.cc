#include "src/http/server/http_server.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <optional>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "src/base/sockets.h"
#include "src/http/server/connection.h"
#include "src/http/server/session.h"

namespace cqbench {
namespace {

namespace asio = boost::asio;

constexpr Nanos kLongestTickNs = 250 * kNanosPerMilli;
// How long accepting rests when the process has no descriptors left: the connection stays in the backlog.
constexpr std::chrono::milliseconds kAcceptBackOff{100};

// One thread with everything that belongs to its connections.
class Loop final : public Connections {
 public:
  Loop(const HttpOptions& options, const HttpHandler& handler, int thread)
      : io_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
        mailbox_(std::make_shared<Mailbox>([this] { asio::post(io_, [this] { mailbox_->Deliver(); }); })),
        state_(options, handler, thread, mailbox_),
        tick_ns_(std::min({kLongestTickNs, options.idle_ns / 4, options.request_ns / 4, options.write_ns / 4})),
        guard_(asio::make_work_guard(io_)),
        timer_(io_) {}
  ~Loop() override {
    Finish();
    Join();
  }

  asio::io_context& io() { return io_; }
  const LoopCounts& counts() const { return state_.counts; }
  uint64_t open() const { return open_.load(std::memory_order_relaxed); }

  // Throws std::system_error if the system has no thread left.
  void StartThread() {
    thread_ = std::thread([this] { Run(); });
    pthread_setname_np(thread_.native_handle(), absl::StrCat("http-", state_.thread).c_str());
  }

  // Any thread. A connected socket that does not block.
  void Add(Descriptor socket, bool v6) {
    open_.fetch_add(1, std::memory_order_relaxed);
    asio::post(io_, [this, v6, fd = std::make_shared<Descriptor>(std::move(socket))] { Adopt(*fd, v6); });
  }

  // Any thread: the connections end when their requests have, or at the deadline.
  void Drain(Nanos drain_ns) {
    asio::post(io_, [this, drain_ns] {
      draining_until_ = NowNs() + drain_ns;
      // A copy: those that end at once take themselves out.
      const std::vector<Connection*> all = connections_;
      for (Connection* connection : all) connection->Drain();
      Tick();
    });
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    io_.run();
    Finish();
  }

  // Once no handler runs any more.
  void Finish() {
    if (finished_) return;
    finished_ = true;
    mailbox_->Close();
  }

  void Adopt(Descriptor& descriptor, bool v6) {
    boost::system::error_code error;
    asio::ip::tcp::socket socket(io_);
    if (!draining_until_) socket.assign(v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), descriptor.fd(), error);
    if (draining_until_ || error) {
      open_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    (void)descriptor.Release();  // the socket's now
    state_.Tick();
    auto* const connection = new Connection(state_, *this, std::move(socket));
    connection->place = connections_.size();
    connections_.push_back(connection);
    connection->Start();
    if (!ticking_) Tick();
  }
  void Remove(Connection& connection) override {
    connections_[connection.place] = connections_.back();
    connections_[connection.place]->place = connection.place;
    connections_.pop_back();
    open_.fetch_sub(1, std::memory_order_relaxed);
    delete &connection;
  }

  // While there are connections.
  void Tick() {
    ticking_ = false;
    state_.Tick();
    const bool over = draining_until_ && state_.now >= *draining_until_;
    const std::vector<Connection*> all = connections_;
    for (Connection* connection : all) {
      over ? connection->Close() : connection->CheckTimes();
    }
    if (connections_.empty() && draining_until_) guard_.reset();
    if (connections_.empty()) return;
    ticking_ = true;
    const Nanos next = draining_until_ ? std::clamp<Nanos>(*draining_until_ - state_.now, 0, kDrainTickNs) : tick_ns_;
    timer_.expires_after(std::chrono::nanoseconds(next));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) Tick();
    });
  }

  static constexpr Nanos kDrainTickNs = 5 * kNanosPerMilli;

  asio::io_context io_;
  const std::shared_ptr<Mailbox> mailbox_;
  LoopState state_;
  const Nanos tick_ns_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  asio::steady_timer timer_;
  std::vector<Connection*> connections_;
  std::optional<Nanos> draining_until_;
  bool ticking_ = false;
  bool finished_ = false;
  std::atomic<uint64_t> open_{0};  // from when it was dealt out
  std::thread thread_;
};

absl::Status CheckOptions(const HttpOptions& o) {
  const auto bad = [](absl::string_view name, absl::string_view accepted) {
    return absl::InvalidArgumentError(absl::StrCat(name, " must be ", accepted));
  };
  if (o.threads < 1 || o.threads > 1024) return bad("threads", "1 to 1024");
  if (o.max_header_bytes < 256 || o.max_header_bytes > 1 << 20) return bad("max_header_bytes", "256 to 1048576");
  if (o.max_body_bytes > 1 << 30) return bad("max_body_bytes", "at most 1073741824");
  if (o.max_streams < 1 || o.max_streams > 1 << 20) return bad("max_streams", "1 to 1048576");
  if (o.stream_buffer_bytes < 1) return bad("stream_buffer_bytes", "at least 1");
  if (std::min({o.idle_ns, o.request_ns, o.write_ns}) < kNanosPerMilli) return bad("times", "at least 1 ms");
  return absl::OkStatus();
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, HttpHandler handler, Listeners listeners)
      : options_(options), handler_(std::move(handler)) {
    for (int i = 0; i < options_.threads; ++i) loops_.push_back(std::make_unique<Loop>(options_, handler_, i));
    for (Descriptor& socket : listeners.sockets) {
      acceptors_.push_back(std::make_unique<Acceptor>(acceptor_loop(), std::move(socket)));
    }
  }

  // Throws std::system_error.
  void Start() {
    for (const auto& loop : loops_) {
      loop->StartThread();
      ++started_;
    }
    for (const auto& acceptor : acceptors_) {
      asio::post(acceptor_loop(), [this, &acceptor = *acceptor] { Await(acceptor); });
    }
  }

  void Stop() {
    if (stopped_) return;
    stopped_ = true;
    // The first loop's thread has the acceptors, so their end comes before that of its connections.
    if (started_ > 0) {
      asio::post(acceptor_loop(), [this] {
        for (const auto& acceptor : acceptors_) acceptor->Close();
      });
    }
    for (size_t i = 0; i < started_; ++i) loops_[i]->Drain(options_.drain_ns);
    for (size_t i = 0; i < started_; ++i) loops_[i]->Join();
  }

  HttpCounts counts() const {
    HttpCounts sum;
    for (const auto& loop : loops_) {
      const LoopCounts& counts = loop->counts();
      for (size_t i = 0; i < sum.responses.size(); ++i) sum.responses[i] += counts.responses[i].value();
      sum.http2_responses += counts.http2_responses.value();
      sum.timed_out += counts.timed_out.value();
      sum.open_connections += loop->open();
    }
    sum.connections = accepted_.value();
    sum.refused_connections = refused_.value();
    return sum;
  }
  std::vector<uint64_t> OpenByThread() const {
    std::vector<uint64_t> open;
    for (const auto& loop : loops_) open.push_back(loop->open());
    return open;
  }

 private:
  struct Acceptor {
    Acceptor(asio::io_context& io, Descriptor descriptor) : listener(io, descriptor.Release()), back_off(io) {}
    void Close() {
      closed = true;
      boost::system::error_code ignored;
      listener.close(ignored);
      back_off.cancel();
    }
    asio::posix::stream_descriptor listener;  // only to wait on
    asio::steady_timer back_off;
    bool closed = false;
  };

  asio::io_context& acceptor_loop() { return loops_.front()->io(); }

  void Await(Acceptor& acceptor) {
    acceptor.listener.async_wait(asio::posix::stream_descriptor::wait_read,
                                 [this, &acceptor](const boost::system::error_code& error) {
                                   if (!error && !acceptor.closed) AcceptAll(acceptor);
                                 });
  }

  void AcceptAll(Acceptor& acceptor) {
    while (true) {
      sockaddr_storage peer{};
      socklen_t length = sizeof(peer);
      Descriptor socket(accept4(acceptor.listener.native_handle(), reinterpret_cast<sockaddr*>(&peer), &length,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.ok()) {
        Deal(std::move(socket), peer.ss_family == AF_INET6);
        continue;
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) return Await(acceptor);
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // No descriptors or memory: nothing is lost by waiting, and spinning would not help.
      acceptor.back_off.expires_after(kAcceptBackOff);
      acceptor.back_off.async_wait([this, &acceptor](const boost::system::error_code& error) {
        if (!error && !acceptor.closed) AcceptAll(acceptor);
      });
      return;
    }
  }

  void Deal(Descriptor socket, bool v6) {
    uint64_t open = 0;
    for (const auto& loop : loops_) open += loop->open();
    if (open >= options_.max_connections) {
      refused_.Add();
      return;
    }
    accepted_.Add();
    SetNoDelay(socket.fd());
    Loop& least = **std::min_element(loops_.begin(), loops_.end(),
                                     [](const auto& a, const auto& b) { return a->open() < b->open(); });
    least.Add(std::move(socket), v6);
  }

  const HttpOptions options_;
  const HttpHandler handler_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;  // of the first loop; gone before it
  Count accepted_;                                    // the first loop's thread writes
  Count refused_;
  size_t started_ = 0;
  bool stopped_ = false;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options, HttpHandler handler) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  auto listeners = ListenOn(options.listen);
  if (!listeners.ok()) return listeners.status();
  Target address = options.listen;
  address.port = listeners->port;
  auto impl = std::make_unique<Impl>(options, std::move(handler), *std::move(listeners));
  try {
    impl->Start();
  } catch (const std::system_error& no_thread) {
    impl->Stop();
    return absl::ResourceExhaustedError(
        absl::StrCat("no threads for the HTTP server on ", address.ToString(), ": ", no_thread.what()));
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl), std::move(address)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl, Target address)
    : impl_(std::move(impl)), address_(std::move(address)) {}

HttpServer::~HttpServer() {
  impl_->Stop();
}

void HttpServer::Stop() {
  impl_->Stop();
}

HttpCounts HttpServer::counts() const {
  return impl_->counts();
}

std::vector<uint64_t> HttpServer::OpenByThread() const {
  return impl_->OpenByThread();
}

}  // namespace cqbench
