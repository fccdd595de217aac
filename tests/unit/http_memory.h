// An HTTP session fed from memory: no socket, and no thread but the test's.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/http/server/session.h"

namespace cqbench {

// A copy of a request, for comparisons.
struct Seen {
  std::string method;
  std::string target;
  std::string content_type;
  std::string content_encoding;
  std::string accept;
  std::string body;
};

// HttpOptions::own_response of a server that says things its own way.
inline HttpOwnResponse InBrackets(int status, std::string_view reason) {
  return {"a/b", "[" + std::to_string(status) + " " + std::string(reason) + "]"};
}

// A connection as in the event loop, with memory in place of the socket. The client takes everything that is written,
// unless `stuck`.
class MemoryConnection : public Wire {
 public:
  MemoryConnection() : MemoryConnection(HttpOptions()) {}
  explicit MemoryConnection(const HttpOptions& options)
      : options_(options),
        handler_([this](const HttpRequest& request, HttpReply reply) { Handle(request, std::move(reply)); }),
        mailbox_(std::make_shared<Mailbox>([] {})),
        loop_(options_, handler_, 0, mailbox_) {}
  ~MemoryConnection() override {
    session_.reset();
    if (!closed_) mailbox_->Close();
  }

  // Feeds bytes to the session; does nothing once the connection has ended.
  void Feed(std::string_view bytes) {
    input_.append(bytes);
    Resume();
  }
  void Resume() override {
    if (gone_) return;
    if (session_ == nullptr) {
      const FirstBytes first = LookAt(input_);
      if (first == FirstBytes::kUndecided) return;
      session_ = first == FirstBytes::kHttp1 ? MakeHttp1Session(loop_, *this) : MakeHttp2Session(loop_, *this);
    }
    for (bool goes_on = true; goes_on && !stuck;) {
      // Uses new memory of the exact size each time, so that a sanitizer sees reads beyond the end. The memory must
      // stay while a request's views point into it.
      if (session_->WantsBytes()) {
        exact_.assign(input_.begin(), input_.end());
        exact_.shrink_to_fit();
        at_ = 0;
      }
      const size_t used = session_->Receive({exact_.data() + at_, exact_.size() - at_});
      at_ += used;
      input_.erase(0, used);
      session_->Produce();
      goes_on = (used > 0 || !session_->output().empty()) && !session_->ended();
      output_ += std::exchange(session_->output(), std::string());
    }
  }
  // Delivers what other threads have left.
  void Deliver() { mailbox_->Deliver(); }
  // Lets this time pass.
  void Pass(Nanos time) {
    loop_.now += time;
    session_->CheckTimes();
    Resume();
  }
  // The client closes the connection.
  void Disconnect() {
    session_.reset();
    gone_ = true;
  }
  // The server ends.
  void CloseMailbox() {
    Disconnect();
    mailbox_->Close();
    closed_ = true;
  }

  // Returns everything written so far, once.
  std::string Take() { return std::exchange(output_, std::string()); }
  bool ended() const { return session_ != nullptr && session_->ended(); }
  bool broken() const { return session_->broken(); }
  Session& session() { return *session_; }
  LoopState& loop() { return loop_; }

  // The handler of requests; by default it responds with 200 and the body.
  std::function<void(const HttpRequest&, HttpReply)> handle;
  std::vector<Seen> seen;
  bool stuck = false;

 private:
  void Handle(const HttpRequest& request, HttpReply reply) {
    seen.push_back({std::string(request.method), std::string(request.target), std::string(request.content_type),
                    std::string(request.content_encoding), std::string(request.accept), std::string(request.body)});
    if (handle) return handle(request, std::move(reply));
    reply.Send(200, "text/plain", request.body);
  }

  const HttpOptions options_;
  const HttpHandler handler_;
  const std::shared_ptr<Mailbox> mailbox_;
  LoopState loop_;
  std::unique_ptr<Session> session_;
  std::string input_;
  std::vector<char> exact_;
  size_t at_ = 0;  // bytes of it that were used
  std::string output_;
  bool gone_ = false;
  bool closed_ = false;
};

}  // namespace cqbench
