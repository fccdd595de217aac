#include "src/base/sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

constexpr Nanos kAskStop = 10 * kNanosPerMilli;
constexpr int kBacklog = 128;
// How often a free port is asked for that turns out to be taken on another address of the name.
constexpr int kFreePortAttempts = 20;

Endpoint UnixEndpoint(const std::string& path) {
  Endpoint endpoint;
  auto& address = reinterpret_cast<sockaddr_un&>(endpoint.address);
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  endpoint.length = static_cast<socklen_t>(sizeof(address));
  return endpoint;
}

// gRPC's own resolver takes "localhost" for both loopback addresses (RFC 6761), whereas the system's returns what
// /etc/hosts has: in many containers IPv4 alone. IPv4 last: its error says more where there is no IPv6.
std::vector<std::string> NamesToResolve(const std::string& host) {
  if (host == "localhost") return {"::1", "127.0.0.1"};
  return {host};
}

absl::Status AppendAddresses(const std::string& host, int port, std::vector<Endpoint>& endpoints) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return absl::NotFoundError(absl::StrCat("'", host, "' cannot be resolved: ", gai_strerror(error)));
  struct FreeAddresses {
    void operator()(addrinfo* a) const { freeaddrinfo(a); }
  };
  const std::unique_ptr<addrinfo, FreeAddresses> owner(found);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    Endpoint endpoint;
    std::memcpy(&endpoint.address, a->ai_addr, a->ai_addrlen);
    endpoint.length = a->ai_addrlen;
    endpoints.push_back(endpoint);
  }
  return absl::OkStatus();
}

// Closes the socket and keeps errno.
Descriptor Failed(Descriptor socket) {
  const int error = errno;
  socket.Close();
  errno = error;
  return socket;
}

absl::Status CannotListen(const Target& target, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", target.ToString(), ": ", why));
}

// The port has the same place in both families.
in_port_t& PortOf(sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

int BoundPort(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(PortOf(address));
}

// Machines without IPv6 still resolve localhost to ::1; that address is simply not there then.
bool FamilyMissing(int error) {
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL;
}

// A name server may give one address twice, and nobody can listen twice on one.
std::vector<Endpoint> WithoutRepeats(const std::vector<Endpoint>& endpoints) {
  std::vector<Endpoint> distinct;
  for (const Endpoint& endpoint : endpoints) {
    const bool repeated = std::any_of(distinct.begin(), distinct.end(), [&](const Endpoint& e) {
      return e.length == endpoint.length && std::memcmp(&e.address, &endpoint.address, e.length) == 0;
    });
    if (!repeated) distinct.push_back(endpoint);
  }
  return distinct;
}

// Nothing, with errno set, when it cannot listen there.
Descriptor ListenOnOne(const Endpoint& endpoint) {
  Descriptor listener(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const bool listens = listener.ok() && setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                       bind(listener.fd(), SocketAddress(endpoint), endpoint.length) == 0 &&
                       listen(listener.fd(), kBacklog) == 0;
  return listens ? std::move(listener) : Failed(std::move(listener));
}

// All endpoints with the port of the first; 0, or the errno that says why not.
int ListenOnAll(std::vector<Endpoint> endpoints, Listeners& listeners) {
  int last_error = EADDRNOTAVAIL;
  for (Endpoint& endpoint : endpoints) {
    if (!listeners.sockets.empty()) PortOf(endpoint.address) = htons(static_cast<in_port_t>(listeners.port));
    Descriptor listener = ListenOnOne(endpoint);
    if (listener.ok()) {
      listeners.port = BoundPort(listener.fd());
      listeners.sockets.push_back(std::move(listener));
      continue;
    }
    last_error = errno;
    if (!FamilyMissing(last_error)) return last_error;
  }
  return listeners.sockets.empty() ? last_error : 0;
}

}  // namespace

absl::StatusOr<std::vector<Endpoint>> ResolveTargets(const std::vector<Target>& targets) {
  std::vector<Endpoint> endpoints;
  for (const Target& target : targets) {
    if (target.is_unix()) {
      endpoints.push_back(UnixEndpoint(target.unix_path));
      continue;
    }
    for (const std::string& name : NamesToResolve(target.host)) {
      if (absl::Status status = AppendAddresses(name, target.port, endpoints); !status.ok()) return status;
    }
  }
  return endpoints;
}

bool IsLocal(const Target& target) {
  const auto endpoints = ResolveTargets({target});
  if (target.is_unix() || !endpoints.ok()) return target.is_unix();
  return std::all_of(endpoints->begin(), endpoints->end(), [](const Endpoint& endpoint) {
    if (endpoint.address.ss_family == AF_INET6) {
      return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(endpoint.address).sin6_addr) != 0;
    }
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(endpoint.address);
    return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  });
}

void SetNoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Descriptor BeginConnect(const Endpoint& endpoint) {
  Descriptor socket(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.ok()) return socket;
  if (endpoint.address.ss_family != AF_UNIX) SetNoDelay(socket.fd());
  const bool begun = connect(socket.fd(), SocketAddress(endpoint), endpoint.length) == 0 || errno == EINPROGRESS;
  return begun ? std::move(socket) : Failed(std::move(socket));
}

int FinishConnect(const Descriptor& socket, const ConnectLimit& limit) {
  for (;;) {
    if (limit.stop && limit.stop()) return ECANCELED;
    const Nanos now = NowNs();
    if (now >= limit.give_up_at) return ETIMEDOUT;
    const Nanos ask_again_at = limit.stop ? now + kAskStop : limit.give_up_at;
    if (!AwaitEvents(socket.fd(), POLLOUT, std::min(limit.give_up_at, ask_again_at))) continue;
    int error = 0;
    socklen_t length = sizeof(error);
    return getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
  }
}

bool AwaitEvents(int fd, short events, Nanos give_up_at) {
  for (;;) {
    const Nanos left = std::max<Nanos>(give_up_at - NowNs(), 0);
    const timespec timeout{left / kNanosPerSecond, static_cast<long>(left % kNanosPerSecond)};
    pollfd waiting{fd, events, 0};
    const int ready = ppoll(&waiting, 1, &timeout, nullptr);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

absl::StatusOr<Listeners> ListenOn(const Target& target) {
  if (target.is_unix()) return CannotListen(target, "not a TCP address");
  const auto endpoints = ResolveTargets({target});
  if (!endpoints.ok()) return endpoints.status();
  const std::vector<Endpoint> distinct = WithoutRepeats(*endpoints);
  for (int attempt = 1;; ++attempt) {
    Listeners listeners;
    const int error = ListenOnAll(distinct, listeners);
    if (error == 0) return listeners;
    const bool try_another = error == EADDRINUSE && target.port == 0 && attempt < kFreePortAttempts;
    if (!try_another) return CannotListen(target, std::strerror(error));
  }
}

}  // namespace cqbench
