// Data of an event loop of the HTTP client: its connections, their channels, its slots. Only the loop's thread uses
// them, except where a comment states otherwise.
#pragma once

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "cqbench/recorder.h"
#include "src/base/descriptor.h"
#include "src/base/sockets.h"
#include "src/base/target.h"
#include "src/http/client/http_wire.h"
#include "src/load/pacing/arrival_queue.h"

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

  // Returns 0 when everything has gone out; otherwise the errno that says why not, EAGAIN if the socket is full.
  int SendAll() {
    while (written < out.size()) {
      const ssize_t count = send(socket.fd(), out.data() + written, out.size() - written, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EINTR) return errno;
      if (count > 0) written += static_cast<size_t>(count);
    }
    out.clear();
    written = 0;
    return 0;
  }
  // Without a socket, and as new.
  void Reset() {
    socket.Close();
    wire.Reset();
    out.clear();
    written = 0;
    connecting = false;
  }
  // Watches the socket for room to write in addition to what comes in, or for the latter alone.
  bool WatchFor(const Descriptor& epoll, int operation, bool room) {
    connecting = room;
    return Watch(epoll.fd(), operation, socket.fd(), room ? EPOLLIN | EPOLLOUT : EPOLLIN, index);
  }
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

  Connection<Wire>& AddConnection() {
    std::deque<Connection<Wire>>& all = loop->connections;
    return *connections.emplace_back(&all.emplace_back(this, message, static_cast<uint32_t>(all.size())));
  }
  // A connection without a socket: the next call makes it one.
  Connection<Wire>& Unused() {
    for (Connection<Wire>* connection : connections) {
      if (!connection->socket.ok()) return *connection;
    }
    return AddConnection();
  }
};

template <typename Wire>
struct Loop {
  static constexpr uint32_t kWake = UINT32_MAX;  // tag of events of `wake`; those of connections are their indices

  // `arrivals`: nullptr in a closed loop.
  Loop(const RunWindow* window, ArrivalQueue* arrivals)
      : recorder(window, arrivals != nullptr),
        epoll(epoll_create1(EPOLL_CLOEXEC)),
        wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        queue(arrivals) {}

  // Returns false when there were no descriptors for it.
  bool WatchWake() { return wake.ok() && Watch(epoll.fd(), EPOLL_CTL_ADD, wake.fd(), EPOLLIN, kWake); }

  Recorder recorder;
  std::deque<Route<Wire>> routes;
  std::deque<Connection<Wire>> connections;
  std::vector<WireSlot<Wire>*> slots;
  std::vector<Connection<Wire>*> dirty;
  std::vector<HttpEnded> ended;
  Descriptor epoll, wake;
  ArrivalQueue* const queue;  // open loop
  size_t next = 0;            // of the queue's calls
  Nanos next_check = 0;
  Nanos next_deadlines = 0;

  std::mutex mutex;
  std::vector<WireSlot<Wire>*> resumed;  // guarded by mutex
  std::atomic<bool> has_resumed{false};
};

}  // namespace cqbench
