#include "src/observe/sampling/connections.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "src/observe/sampling/tcp_info.h"

namespace cqbench {
namespace {

// gRPC reaches IPv4 peers through dual-stack sockets, where they appear as ::ffff:a.b.c.d.
sockaddr_storage Unmapped(const sockaddr_storage& address) {
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (address.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return address;
  sockaddr_storage plain{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(plain);
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  std::memcpy(&v4.sin_addr, v6.sin6_addr.s6_addr + 12, sizeof(v4.sin_addr));
  return plain;
}

bool SamePeer(const sockaddr_storage& peer, const Endpoint& endpoint) {
  if (peer.ss_family != endpoint.address.ss_family) return false;
  if (peer.ss_family == AF_INET) {
    const auto& a = reinterpret_cast<const sockaddr_in&>(peer);
    const auto& b = reinterpret_cast<const sockaddr_in&>(endpoint.address);
    return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
  }
  if (peer.ss_family == AF_INET6) {
    const auto& a = reinterpret_cast<const sockaddr_in6&>(peer);
    const auto& b = reinterpret_cast<const sockaddr_in6&>(endpoint.address);
    return a.sin6_port == b.sin6_port && std::memcmp(&a.sin6_addr, &b.sin6_addr, sizeof(a.sin6_addr)) == 0;
  }
  const auto& a = reinterpret_cast<const sockaddr_un&>(peer);
  const auto& b = reinterpret_cast<const sockaddr_un&>(endpoint.address);
  return std::strncmp(a.sun_path, b.sun_path, sizeof(a.sun_path)) == 0;
}

using Address = std::function<int(int fd, sockaddr* address, socklen_t* length)>;  // getpeername or getsockname

std::optional<sockaddr_storage> AddressOf(int fd, const Address& get) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (get(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
  return Unmapped(address);
}

// Absent when the descriptor is no connected socket. getpeername() succeeds for connected Unix sockets only, but also
// for TCP sockets that are being closed.
std::optional<OpenConnection> Connected(int fd, const sockaddr_storage& peer) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return std::nullopt;
  OpenConnection connection;
  connection.fd = fd;
  connection.id = file.st_ino;
  connection.is_tcp = peer.ss_family != AF_UNIX;
  if (!connection.is_tcp) return connection;
  if (!IsTcpEstablished(fd)) return std::nullopt;
  char text[INET6_ADDRSTRLEN] = {};
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    connection.peer_port = ntohs(v4.sin_port);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
    connection.peer_port = ntohs(v6.sin6_port);
  }
  connection.peer_host = text;
  return connection;
}

// Host and port. Of Unix sockets, of which one end has no name, nothing.
std::string Name(const sockaddr_storage& address) {
  if (address.ss_family == AF_UNIX) return "";
  const bool v4 = address.ss_family == AF_INET;
  const auto& as_v4 = reinterpret_cast<const sockaddr_in&>(address);
  const auto& as_v6 = reinterpret_cast<const sockaddr_in6&>(address);
  const char* const host = reinterpret_cast<const char*>(v4 ? static_cast<const void*>(&as_v4.sin_addr)
                                                            : static_cast<const void*>(&as_v6.sin6_addr));
  // The port is at the same place in both.
  return std::string(host, v4 ? sizeof(as_v4.sin_addr) : sizeof(as_v6.sin6_addr)) + ":" +
         std::to_string(ntohs(as_v4.sin_port));
}

int LocalPort(const sockaddr_storage& local) {
  // The port is at the same place in both.
  return ntohs(reinterpret_cast<const sockaddr_in&>(local).sin_port);
}

bool IsAt(const sockaddr_storage& local, const Target& target) {
  if (local.ss_family != AF_UNIX) return !target.is_unix() && LocalPort(local) == target.port;
  return target.is_unix() && target.unix_path == reinterpret_cast<const sockaddr_un&>(local).sun_path;
}

// Every connected socket of this process for which `wanted(fd, peer)`.
std::optional<std::vector<OpenConnection>> FindSockets(
    const std::function<bool(int fd, const sockaddr_storage& peer)>& wanted) {
  struct CloseDir {
    void operator()(DIR* d) const { closedir(d); }
  };
  const std::unique_ptr<DIR, CloseDir> dir(opendir("/proc/self/fd"));
  if (dir == nullptr) return std::nullopt;
  std::vector<OpenConnection> found;
  while (const dirent* entry = readdir(dir.get())) {
    if (entry->d_name[0] == '.') continue;
    const int fd = std::atoi(entry->d_name);
    const auto peer = AddressOf(fd, getpeername);
    if (!peer || !wanted(fd, *peer)) continue;
    if (const auto connection = Connected(fd, *peer)) found.push_back(*connection);
  }
  return found;
}

}  // namespace

std::optional<std::vector<OpenConnection>> FindConnections(const std::vector<Endpoint>& endpoints,
                                                           const std::set<uint64_t>& except) {
  auto found = FindSockets([&](int /*fd*/, const sockaddr_storage& peer) {
    return std::any_of(endpoints.begin(), endpoints.end(), [&](const Endpoint& e) { return SamePeer(peer, e); });
  });
  if (found) std::erase_if(*found, [&](const OpenConnection& c) { return except.count(c.id) > 0; });
  return found;
}

std::optional<int> CountConnections(const std::vector<Endpoint>& endpoints, const std::set<uint64_t>& except) {
  const auto found = FindConnections(endpoints, except);
  if (!found) return std::nullopt;
  return static_cast<int>(found->size());
}

void RemoveOwn(std::vector<OpenConnection>& connections) {
  std::set<std::pair<std::string, std::string>> ends;  // local and remote name of every socket
  const auto names = [](int fd) {
    const auto local = AddressOf(fd, getsockname), peer = AddressOf(fd, getpeername);
    return std::pair(local ? Name(*local) : "", peer ? Name(*peer) : "");
  };
  (void)FindSockets([&](int fd, const sockaddr_storage& /*peer*/) {
    ends.insert(names(fd));
    return false;
  });
  std::erase_if(connections, [&](const OpenConnection& connection) {
    const auto [local, peer] = names(connection.fd);
    return !peer.empty() && ends.count({peer, local}) > 0;
  });
}

std::optional<std::vector<OpenConnection>> FindAccepted(const std::vector<Target>& listening) {
  return FindSockets([&](int fd, const sockaddr_storage& /*peer*/) {
    const auto local = AddressOf(fd, getsockname);
    return local && std::any_of(listening.begin(), listening.end(), [&](const Target& t) { return IsAt(*local, t); });
  });
}

}  // namespace cqbench
