#include "src/base/endpoint.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

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

}  // namespace cqbench
