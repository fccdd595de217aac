// The client's ends of HTTP/1.1 and HTTP/2 connections, without their I/O: calls become bytes, bytes become answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/config/http_call.h"
#include "src/config/wire_settings.h"
#include "src/http/client/http_body.h"
#include "src/load/pacing/slot.h"

struct nghttp2_session;

namespace cqbench {

// A slot whose calls are HTTP requests.
struct HttpSlot : CallSlot {
  int32_t stream = 0;    // HTTP/2: of the call in flight
  int status = 0;        // of its response, as soon as that is known
  size_t body_sent = 0;  // HTTP/2: bytes of the request's body
  BodyCheck body;        // of its response; says something once that has ended
};

// A response has come, or (status 0) this one call has none: the server reset it, or refused it.
struct HttpEnded {
  HttpSlot* slot = nullptr;
  int status = 0;
  bool refused = false;  // the server has not processed the call
};

// The request of each call: made once, read by all threads.
class HttpMessage {
 public:
  // `authority`: what the Host header says.
  HttpMessage(const HttpCall& call, std::string_view authority, const std::vector<Metadata>& headers);

  bool is_head() const { return is_head_; }
  const std::string& body() const { return body_; }
  const std::string& expected() const { return expected_; }  // the response's body
  const std::string& http1() const { return http1_; }        // all of it
  // HTTP/2: names and values, without the body.
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  bool is_head_;
  std::string body_;
  std::string expected_;
  std::string http1_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

class HttpResponseParser;

// Both wires have the same functions; HTTP/1.1's is given one call at a time. One connection each, one thread;
// `message` must outlive them.
class Http1Wire {
 public:
  explicit Http1Wire(const HttpMessage& message);
  ~Http1Wire();

  // The connection is a new one: whatever was in flight has ended.
  void Reset();
  // Appends what is to be sent.
  void Submit(HttpSlot& slot, std::string& out);
  // Appends what the protocol itself has to say, and what it could not say before. Calls may end with that: those that
  // can no longer be sent, and those whose response came before their request was out.
  void Pull(std::string& /*out*/, std::vector<HttpEnded>& /*ended*/) {}
  // Takes what came. Empty, or in one line why the connection can no longer be used.
  std::string Feed(std::string_view bytes, std::vector<HttpEnded>& ended);
  // Nobody waits for the slot's answer any more. False: then the connection is of no use.
  bool Abandon(HttpSlot& /*slot*/) { return false; }
  // The server closes the connection after the answer that came last.
  bool closing() const { return closing_; }
  // Calls in flight go on, new calls need another connection.
  bool takes_no_more() const { return false; }

 private:
  const HttpMessage& message_;
  std::unique_ptr<HttpResponseParser> parser_;
  HttpSlot* slot_ = nullptr;
  bool closing_ = false;
};

class Http2Wire {
 public:
  explicit Http2Wire(const HttpMessage& message);
  Http2Wire(const Http2Wire&) = delete;
  Http2Wire& operator=(const Http2Wire&) = delete;
  ~Http2Wire();

  void Reset();
  void Submit(HttpSlot& slot, std::string& out);
  void Pull(std::string& out, std::vector<HttpEnded>& ended);
  std::string Feed(std::string_view bytes, std::vector<HttpEnded>& ended);
  bool Abandon(HttpSlot& slot);
  // The connection is over, for either side's reasons: new calls need a new one.
  bool closing() const { return closing_; }
  // The server has sent GOAWAY (RFC 9113, 6.8): calls up to its last stream end as usual, others end as refused.
  // closing() follows when no call is left.
  bool takes_no_more() const { return goes_away_; }

 private:
  struct Callbacks;
  const HttpMessage& message_;
  nghttp2_session* session_ = nullptr;
  std::vector<HttpEnded>* ended_ = nullptr;  // during Feed() and Pull()
  bool pulling_ = false;
  bool closing_ = false;
  bool goes_away_ = false;
};

}  // namespace cqbench
