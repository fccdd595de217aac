#include "src/http/server/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cqbench {
namespace {

using boost::asio::ip::tcp;

constexpr size_t kReadBytes = 16 << 10;
// How often a connection writes before others have their turn: one that reads as fast as we write would never let go.
constexpr int kTurns = 4;
constexpr Nanos kLingerNs = 2 * kNanosPerSecond;

}  // namespace

Connection::Connection(LoopState& loop, Connections& owner, tcp::socket socket)
    : loop_(loop), owner_(owner), socket_(std::move(socket)), buffer_(kReadBytes), since_(loop.now) {}

void Connection::Advance() {
  // A handler of this connection's own may want to resume it; the loop below sees to it.
  if (advancing_ || closed_) return;
  advancing_ = true;
  const bool goes_on = lingering_ || Serve();
  advancing_ = false;
  if (!goes_on) return Close();
  if (!awaiting_room_ && !no_more_bytes_ && (lingering_ || session_ == nullptr || session_->WantsBytes())) AwaitBytes();
}

bool Connection::Serve() {
  if (session_ == nullptr && !MakeSession()) return !no_more_bytes_;
  for (int turn = 0; !awaiting_room_; ++turn) {
    if (turn == kTurns) {
      GoOnLater();
      break;
    }
    const size_t used = session_->Receive(unused());
    begin_ += used;
    session_->Produce();
    const bool something = !session_->output().empty();
    if (!Write()) return false;
    if (awaiting_room_) break;
    if (session_->broken()) return false;
    if (session_->ended()) {
      Linger();
      return true;
    }
    // Written out: there may be room for more of what is there.
    if (!something && used == 0) break;
  }
  return awaiting_room_ || posted_ || !no_more_bytes_ || session_->Busy();
}

bool Connection::MakeSession() {
  switch (LookAt(unused())) {
    case FirstBytes::kUndecided:
      return false;
    case FirstBytes::kHttp1:
      session_ = MakeHttp1Session(loop_, *this);
      break;
    case FirstBytes::kHttp2:
      session_ = MakeHttp2Session(loop_, *this);
      break;
  }
  return true;
}

// All that is ready in one call; what the socket does not take waits for it.
bool Connection::Write() {
  std::string& output = session_->output();
  while (written_ < output.size()) {
    const ssize_t n = send(socket_.native_handle(), output.data() + written_, output.size() - written_, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    if (n < 0) {
      AwaitRoom();
      return true;
    }
    written_ += static_cast<size_t>(n);
    since_ = loop_.now;
  }
  written_ = 0;
  output.clear();
  // One large response's memory is not kept.
  if (output.capacity() > 4 * kOutputBytes) std::string().swap(output);
  return true;
}

void Connection::AwaitRoom() {
  awaiting_room_ = true;
  since_ = loop_.now;
  socket_.async_wait(tcp::socket::wait_write, [this](const boost::system::error_code& error) {
    awaiting_room_ = false;
    if (closed_) return EndWhenUnused();
    if (error) return Close();
    Advance();
  });
}

void Connection::GoOnLater() {
  if (posted_) return;
  posted_ = true;
  boost::asio::post(socket_.get_executor(), [this] {
    posted_ = false;
    if (closed_) return EndWhenUnused();
    Advance();
  });
}

void Connection::AwaitBytes() {
  if (reading_) return;
  reading_ = true;
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (end_ == buffer_.size()) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    } else {
      buffer_.resize(2 * buffer_.size());  // the session refuses what is larger than it takes
    }
  }
  socket_.async_read_some(boost::asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                          [this](const boost::system::error_code& error, size_t bytes) { OnBytes(error, bytes); });
}

void Connection::OnBytes(const boost::system::error_code& error, size_t bytes) {
  reading_ = false;
  if (closed_) return EndWhenUnused();
  if (error && error != boost::asio::error::eof) return Close();
  if (lingering_) return error ? Close() : AwaitBytes();
  end_ += bytes;
  // It may still want its responses.
  if (error) no_more_bytes_ = true;
  Advance();
}

void Connection::Linger() {
  lingering_ = true;
  since_ = loop_.now;
  begin_ = end_ = 0;
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void Connection::CheckTimes() {
  if (closed_) return;
  if (lingering_) {
    if (loop_.now - since_ >= kLingerNs) Close();
    return;
  }
  if (awaiting_room_ && loop_.now - since_ >= loop_.options.write_ns) {
    loop_.counts.timed_out.Add();
    return Close();
  }
  if (session_ != nullptr) {
    session_->CheckTimes();
    return Advance();
  }
  if (loop_.now - since_ < loop_.options.idle_ns) return;
  loop_.counts.timed_out.Add();
  Close();
}

void Connection::Drain() {
  if (session_ == nullptr) return Close();
  session_->Drain();
  Advance();
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  if (session_ != nullptr && session_->broken()) {
    const linger at_once{1, 0};  // a reset: for HTTP/1.0 the only sign that the response is not whole
    setsockopt(socket_.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  session_.reset();
  boost::system::error_code ignored;
  socket_.close(ignored);
  EndWhenUnused();
}

void Connection::EndWhenUnused() {
  if (!reading_ && !awaiting_room_ && !posted_ && !advancing_) owner_.Remove(*this);
}

}  // namespace cqbench
