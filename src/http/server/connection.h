// A connection's socket: bytes between it and a session. Everything here has one thread, its loop's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <vector>

#include "src/http/server/session.h"

namespace cqbench {

class Connection;

// The connections of a loop.
class Connections {
 public:
  virtual ~Connections() = default;
  // Deletes it.
  virtual void Remove(Connection& connection) = 0;
};

class Connection final : public Wire {
 public:
  // `socket` is connected and does not block.
  Connection(LoopState& loop, Connections& owner, boost::asio::ip::tcp::socket socket);

  // Calls below, and those of the socket, end with the connection where it is over.
  void Start() { Advance(); }
  void Resume() override { Advance(); }
  void CheckTimes();
  // No further requests.
  void Drain();
  // At once.
  void Close();

  size_t place = 0;  // among the owner's

 private:
  // Requests out of what is there, their responses to the socket, and on to wait for what is missing.
  void Advance();
  // False: the connection is over.
  bool Serve();
  bool Write();
  void AwaitBytes();
  void AwaitRoom();
  void GoOnLater();
  void OnBytes(const boost::system::error_code& error, size_t bytes);
  // Says that nothing more comes, and takes what the client still sends, so that it gets to read the last response:
  // closing a socket with unread bytes in it throws away what was written.
  void Linger();
  void EndWhenUnused();
  bool MakeSession();

  std::string_view unused() const { return {buffer_.data() + begin_, end_ - begin_}; }

  LoopState& loop_;
  Connections& owner_;
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<Session> session_;  // null until the first bytes say which
  std::vector<char> buffer_;          // what was read: [begin_, end_) is not used up
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t written_ = 0;  // of the session's output
  Nanos since_;         // the last bytes that the client took, or its connection
  bool reading_ = false;
  bool awaiting_room_ = false;
  bool posted_ = false;         // others have their turn, then this
  bool no_more_bytes_ = false;  // the client has said so
  bool lingering_ = false;
  bool closed_ = false;
  bool advancing_ = false;
};

}  // namespace cqbench
