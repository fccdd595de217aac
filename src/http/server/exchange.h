// One request's response on its way from whoever makes it, on any thread, to its connection, on the loop's thread.
//
// A response given while the handler runs on the loop's thread goes straight to the connection. Everything else is left
// in the exchange, and the exchange in its loop's mailbox: so all that a connection is made of has one thread.
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
  bool Push(HttpExchange* exchange);

  // The loop's thread: delivers what is there, then lets each session that got something write, once.
  void Deliver();
  // The loop's thread, when its sessions are gone.
  void Close();

 private:
  std::mutex mutex_;
  std::vector<HttpExchange*> waiting_;
  bool closed_ = false;
  const std::function<void()> wake_;
  std::vector<HttpExchange*> delivering_;  // the loop's thread only; its memory is reused
  std::vector<Session*> touched_;          // the same
};

// Held by the connection and by the reply or stream. The last of them ends it: on the loop's thread, or, once the
// mailbox is closed, wherever the reply is.
class HttpExchange {
 public:
  HttpExchange(std::shared_ptr<Mailbox> mailbox, const HttpOptions& options)
      : mailbox_(std::move(mailbox)),
        stream_buffer_bytes_(options.stream_buffer_bytes),
        own_response_(options.own_response) {}
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;
  virtual ~HttpExchange() = default;

  // The holder's side; any thread.
  void Send(const HttpHead& head, std::string_view body);
  void SendUnanswered();
  void Begin(int status, std::string_view content_type, std::function<void()> on_room);
  HttpStream::Result Write(std::string_view chunk);
  // The holder lets go.
  void Finish(bool whole);

  // The loop's side, on its thread. Runs the handler.
  void Handle(const HttpHandler& handler, const HttpRequest& request);
  // What the mailbox had it for. The session that now has something to write, or none.
  Session* Deliver();

 protected:
  enum class Stream { kGoesOn, kEnded, kBroken };

  // Appends what waits. Once it says other than kGoesOn the holder is gone.
  Stream TakeChunks(std::string& out);
  // Nobody listens any more: the writer is told. True: it has gone, too, so nobody will deliver this any more.
  bool MarkGone();

  // Before the next request is handled with it.
  void Recycle() {
    growing_.reset();
    began_ = false;
  }

  // The response. Not called when nobody listens: attached() is null then.
  virtual void OnResponse(const HttpHead& head, std::string_view body) = 0;
  virtual void OnBegin(int status, std::string_view content_type) = 0;
  // Chunks or the end wait to be taken.
  virtual void OnChunks() = 0;
  // The holder is gone and all of the response was taken. May delete this.
  virtual void OnReleased() = 0;
  virtual Session* attached() const = 0;

 private:
  struct Growing {
    std::mutex mutex;  // guards what follows
    std::string waiting;
    std::function<void()> on_room;
    bool ended = false;
    bool broken = false;
    bool gone = false;
    bool wants_room = false;
    bool posted = false;  // the mailbox has the exchange
  };
  // Written by the holder before it pushes, read by the loop after: the mailbox orders them.
  enum class Late { kNothing, kAnswer, kBegin };

  void DeliverChunks();

  const std::shared_ptr<Mailbox> mailbox_;
  const size_t stream_buffer_bytes_;
  HttpOwnResponse (*const own_response_)(int status, std::string_view reason);
  Late late_ = Late::kNothing;
  int late_status_ = 0;
  std::string late_type_;
  std::string late_field_name_;
  std::string late_field_value_;
  std::string late_body_;
  std::unique_ptr<Growing> growing_;  // of a stream; made by the holder, the loop's from when it has seen kBegin
  bool began_ = false;                // the loop has
};

}  // namespace cqbench
