// What an event loop of the HTTP client has: its connections, the channels that they belong to, its slots. Everything
// is touched by the loop's thread alone, except where it says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "cqbench/recorder.h"
#include "src/base/descriptor.h"
#include "src/base/endpoint.h"
#include "src/base/target.h"
#include "src/http/client/http_wire.h"
#include "src/load/pacing/lane.h"

namespace cqbench {

template <typename Wire>
struct Loop;
template <typename Wire>
struct Route;

template <typename Wire>
struct Connection {
  Connection(Route<Wire>* of, const HttpMessage& message, uint32_t tag) : route(of), wire(message), index(tag) {}

  Route<Wire>* const route;  // whose loop's thread alone touches the rest

  Wire wire;
  const uint32_t index;  // among its thread's
  Descriptor socket;
  std::string out;  // to be sent, from `written` on
  size_t written = 0;
  bool dirty = false;       // there may be something to send
  bool connecting = false;  // or the socket takes nothing at the moment: it is watched for that
};

template <typename Wire>
struct WireSlot : HttpSlot {
  Route<Wire>* route = nullptr;
  Connection<Wire>* connection = nullptr;  // of the last call
  bool in_flight = false;
};

// A channel: where the calls of its slots go. It has one connection, and next to it those that take no new calls
// (GOAWAY) and still have some in flight.
template <typename Wire>
struct Route {
  Route(Loop<Wire>* of, const Target& to, const HttpMessage& what, const Endpoint& address)
      : loop(of), target(to), message(what), endpoint(address) {}

  Loop<Wire>* const loop;
  const Target& target;
  const HttpMessage& message;
  const Endpoint endpoint;
  std::vector<WireSlot<Wire>*> slots;
  std::vector<Connection<Wire>*> connections;
  Connection<Wire>* current = nullptr;
};

template <typename Wire>
struct Loop {
  Loop(const RunWindow* window, bool open_loop) : recorder(window, open_loop) {}

  Recorder recorder;
  std::deque<Route<Wire>> routes;
  std::deque<Connection<Wire>> connections;
  std::vector<WireSlot<Wire>*> slots;
  std::vector<Connection<Wire>*> dirty;
  std::vector<HttpEnded> ended;
  Descriptor epoll, wake;
  Lane* lane = nullptr;  // open loop
  size_t next = 0;       // of the lane's calls
  Nanos next_look = 0;
  Nanos next_late = 0;

  std::mutex mutex;
  std::vector<WireSlot<Wire>*> rested;  // guarded by mutex
  std::atomic<bool> has_rested{false};
};

}  // namespace cqbench
