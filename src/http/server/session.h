// One connection's protocol without its socket: bytes in, bytes out, handlers called in between. Everything here has
// one thread, the loop's. Tests feed sessions from memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/clock.h"
#include "src/http/server/exchange.h"
#include "src/http/server/http_server.h"

namespace cqbench {

// Written by one thread, read by any.
class Count {
 public:
  void Add(uint64_t n = 1) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void Subtract() { value_.store(value_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct alignas(64) LoopCounts {
  std::array<Count, 5> responses;
  Count http2_responses;
  Count timed_out;
};

// Shared by the sessions of one loop.
struct LoopState {
  LoopState(const HttpOptions& the_options, const HttpHandler& the_handler, int the_thread,
            std::shared_ptr<Mailbox> the_mailbox)
      : options(the_options), handler(the_handler), thread(the_thread), mailbox(std::move(the_mailbox)) {
    Tick();
  }
  // Brings time and date up to date: a few times a second, so that no request pays for it.
  void Tick();
  void CountResponse(int status) { counts.responses[static_cast<size_t>(status / 100 - 1) % 5].Add(); }

  const HttpOptions& options;
  const HttpHandler& handler;
  const int thread;
  const std::shared_ptr<Mailbox> mailbox;
  LoopCounts counts;
  Nanos now = 0;
  std::array<char, 30> date{};  // "Sun, 06 Nov 1994 08:49:37 GMT"

 private:
  time_t date_of_ = 0;
};

// Carries a session's bytes.
class Wire {
 public:
  virtual ~Wire() = default;
  // The session may have something to write, or room for more requests. May delete the session.
  virtual void Resume() = 0;
};

// A session takes no further request and no further chunks while so much waits to be written.
inline constexpr size_t kOutputBytes = 64 << 10;

class Session {
 public:
  Session(LoopState& loop, Wire& wire) : loop_(loop), wire_(wire) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // Takes bytes; returns how many of them were used up. The others come again, at the front of the next call; they stay
  // where they are in memory while WantsBytes() is false.
  virtual size_t Receive(std::string_view bytes) = 0;
  // Appends to output() what is ready, up to about kOutputBytes.
  virtual void Produce() = 0;
  // Returns true if reading on makes sense now.
  virtual bool WantsBytes() const = 0;
  // Returns true while a request is being handled or answered.
  virtual bool Busy() const = 0;
  // Ends when nothing is being handled any more; new requests are not taken.
  virtual void Drain() = 0;
  // Now and then: times may be over.
  virtual void CheckTimes() = 0;

  // An exchange has something for the session that handles it: a whole response, or the head of a stream, then chunks
  // or the end, which wait to be taken.
  virtual void OnResponse(HttpExchange& exchange, const HttpHead& head, std::string_view body) = 0;
  virtual void OnBegin(HttpExchange& exchange, int status, std::string_view content_type) = 0;
  virtual void OnChunks(HttpExchange& exchange) = 0;

  std::string& output() { return output_; }
  Wire& wire() { return wire_; }
  // The connection ends when the output has been written.
  bool ended() const { return ended_; }
  // It ends at once, in a way that the client takes for an error: a response was broken off.
  bool broken() const { return broken_; }

  bool touched = false;  // the mailbox's own

 protected:
  LoopState& loop_;
  std::string output_;
  bool ended_ = false;
  bool broken_ = false;

 private:
  Wire& wire_;
};

std::unique_ptr<Session> MakeHttp1Session(LoopState& loop, Wire& wire);
std::unique_ptr<Session> MakeHttp2Session(LoopState& loop, Wire& wire);

// The protocol that a connection's first bytes are of: HTTP/2's preface, or anything else.
enum class FirstBytes { kHttp1, kHttp2, kUndecided };
FirstBytes LookAt(std::string_view bytes);

}  // namespace cqbench
