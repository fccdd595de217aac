// One request's response on its way from whoever makes it, on any thread, to its connection, on the loop's thread.
//
// A response given while the handler runs on the loop's thread goes straight to the session. Everything else waits in
// the exchange, and the exchange in its loop's mailbox: so all that a connection is made of has one thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/http/server/http_server.h"

namespace cqbench {

class Session;

// Exchanges that a loop has to look at. Outlives its loop: whoever holds a reply holds it, too.
class Mailbox {
 public:
  // `wake` is called, on any thread, when the box is not empty any more; the loop then calls Deliver(). Never after
  // Close().
  explicit Mailbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Any thread. False: closed, nobody will look.
  bool Push(std::shared_ptr<HttpExchange> exchange);

  // The loop's thread: delivers what is there, then lets each session that got something write, once.
  void Deliver();
  // The loop's thread, when its sessions are gone.
  void Close();

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<HttpExchange>> waiting_;
  bool closed_ = false;
  std::function<void()> wake_;
  std::vector<std::shared_ptr<HttpExchange>> delivering_;  // the loop's thread only; its memory is reused
  std::vector<Session*> touched_;                          // the same
};

// Shared by the session, the reply or stream (its holder), and the mailbox.
class HttpExchange : public std::enable_shared_from_this<HttpExchange> {
 public:
  HttpExchange(std::shared_ptr<Mailbox> mailbox, const HttpOptions& options)
      : mailbox_(std::move(mailbox)),
        stream_buffer_bytes_(options.stream_buffer_bytes),
        own_response_(options.own_response) {}
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // The holder's side; any thread.
  void Send(const HttpHead& head, std::string_view body);
  void SendUnanswered();
  void Begin(int status, std::string_view content_type, std::function<void()> on_room);
  HttpStream::Result Write(std::string_view chunk);
  // The holder lets go.
  void Finish(bool whole);

  // The loop's side, on its thread. Runs the handler of one request of `session`.
  void Handle(Session& session, const HttpHandler& handler, const HttpRequest& request);
  // Gives the session what waits. Returns the session if it may now write something, otherwise null.
  Session* Deliver();
  enum class Stream { kGoesOn, kEnded, kBroken };
  // Appends what waits of a stream. Once it says other than kGoesOn the holder is gone.
  Stream TakeChunks(std::string& out);
  // The session listens no more: the writer is told.
  void Detach();

 private:
  // With the lock.
  void SetHead(const HttpHead& head);
  void Empty();
  void Post();

  const std::shared_ptr<Mailbox> mailbox_;
  const size_t stream_buffer_bytes_;
  HttpOwnResponse (*const own_response_)(int status, std::string_view reason);
  Session* session_ = nullptr;  // the loop's thread only; null: nobody listens

  std::mutex mutex_;     // guards what follows
  bool posted_ = false;  // the mailbox has the exchange
  bool gone_ = false;    // nobody will take anything
  bool has_head_ = false;
  int status_ = 0;
  std::string content_type_;
  std::string field_name_;
  std::string field_value_;
  std::string waiting_;  // of the body
  bool whole_ = false;   // it is all of it
  bool ended_ = false;
  bool broken_ = false;
  bool wants_room_ = false;
  std::function<void()> on_room_;
};

}  // namespace cqbench
