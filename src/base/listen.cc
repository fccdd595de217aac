#include "src/base/listen.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/endpoint.h"

namespace cqbench {
namespace {

constexpr int kBacklog = 128;
// How often a free port is asked for that turns out to be taken on another address of the name.
constexpr int kFreePortAttempts = 20;

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
  if (listener.ok() && setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      bind(listener.fd(), SocketAddress(endpoint), endpoint.length) == 0 && listen(listener.fd(), kBacklog) == 0) {
    return listener;
  }
  const int error = errno;
  listener.Close();
  errno = error;
  return listener;
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
