// Counting this process's own connections. The sockets are the test's own, on the loopback interface.
#include "src/observe/sampling/connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Socket() { Close(); }

  int fd() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

Endpoint Loopback4(int port) {
  Endpoint endpoint;
  auto& address = reinterpret_cast<sockaddr_in&>(endpoint.address);
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  endpoint.length = sizeof(address);
  return endpoint;
}

// ::ffff:127.0.0.1, how an IPv4 peer appears on a dual-stack socket.
Endpoint MappedLoopback4(int port) {
  Endpoint endpoint;
  auto& address = reinterpret_cast<sockaddr_in6&>(endpoint.address);
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  const unsigned char mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  std::memcpy(&address.sin6_addr, mapped, sizeof(mapped));
  endpoint.length = sizeof(address);
  return endpoint;
}

const sockaddr* AddressOf(const Endpoint& endpoint) {
  return reinterpret_cast<const sockaddr*>(&endpoint.address);
}

Socket Listen(const Endpoint& endpoint) {
  Socket listener(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind(listener.fd(), AddressOf(endpoint), endpoint.length), 0) << std::strerror(errno);
  EXPECT_EQ(listen(listener.fd(), 16), 0) << std::strerror(errno);
  return listener;
}

Socket Connect(const Endpoint& endpoint) {
  Socket client(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(client.fd(), AddressOf(endpoint), endpoint.length), 0) << std::strerror(errno);
  return client;
}

Socket Accept(const Socket& listener) {
  return Socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
}

int PortOf(const Socket& socket) {
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  EXPECT_EQ(getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return ntohs(address.sin_port);
}

class TcpConnections : public testing::Test {
 protected:
  Socket listener_ = Listen(Loopback4(0));
  int port_ = PortOf(listener_);
  std::vector<Endpoint> endpoints_ = {Loopback4(port_)};
};

TEST_F(TcpConnections, ListeningSocketIsNone) {
  EXPECT_EQ(CountConnections(endpoints_), 0);
}

TEST_F(TcpConnections, EachConnectedSocketIsOneAndAcceptedOnesAreNot) {
  std::vector<Socket> sockets;
  for (int n = 1; n <= 5; ++n) {
    sockets.push_back(Connect(endpoints_[0]));
    EXPECT_EQ(CountConnections(endpoints_), n);
    sockets.push_back(Accept(listener_));
    EXPECT_EQ(CountConnections(endpoints_), n);
  }
}

TEST_F(TcpConnections, ClosedOnesAreNot) {
  Socket first = Connect(endpoints_[0]);
  Socket second = Connect(endpoints_[0]);
  ASSERT_EQ(CountConnections(endpoints_), 2);
  first.Close();
  EXPECT_EQ(CountConnections(endpoints_), 1);
}

TEST_F(TcpConnections, ThoseThatThePeerHasClosedAreNot) {
  Socket client = Connect(endpoints_[0]);
  Accept(listener_).Close();
  char byte = 0;
  ASSERT_EQ(read(client.fd(), &byte, 1), 0) << "waits for the peer's end";
  EXPECT_EQ(CountConnections(endpoints_), 0);
}

TEST_F(TcpConnections, ThoseToOtherPortsAreNot) {
  const Socket other_listener = Listen(Loopback4(0));
  const Endpoint other = Loopback4(PortOf(other_listener));
  const Socket to_other = Connect(other);
  EXPECT_EQ(CountConnections(endpoints_), 0);
  EXPECT_EQ(CountConnections({other}), 1);
  const Socket to_ours = Connect(endpoints_[0]);
  EXPECT_EQ(CountConnections({endpoints_[0], other}), 2);
}

TEST_F(TcpConnections, EndpointNamedTwiceCountsOnce) {
  const Socket client = Connect(endpoints_[0]);
  EXPECT_EQ(CountConnections({endpoints_[0], endpoints_[0]}), 1);
}

TEST_F(TcpConnections, NoEndpointsAreNoConnections) {
  const Socket client = Connect(endpoints_[0]);
  EXPECT_EQ(CountConnections({}), 0);
}

TEST_F(TcpConnections, IPv4PeersOfDualStackSocketsAreFound) {
  const Endpoint mapped = MappedLoopback4(port_);
  const Socket probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int off = 0;
  if (probe.fd() < 0 || setsockopt(probe.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) != 0 ||
      connect(probe.fd(), AddressOf(mapped), mapped.length) != 0) {
    GTEST_SKIP() << "no IPv6 here: " << std::strerror(errno);
  }
  EXPECT_EQ(CountConnections(endpoints_), 1);
}

TEST_F(TcpConnections, TargetsThatWereResolvedAreFound) {
  const auto endpoints = ResolveTargets({{"127.0.0.1", port_, ""}});
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  EXPECT_EQ(CountConnections(*endpoints), 0);
  const Socket client = Connect(endpoints->at(0));
  EXPECT_EQ(CountConnections(*endpoints), 1);
}

Socket ListenDualStack() {
  Socket listener(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  const int off = 0;
  if (listener.fd() < 0 || setsockopt(listener.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) != 0 ||
      bind(listener.fd(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 ||
      listen(listener.fd(), 16) != 0) {
    listener.Close();
  }
  return listener;
}

std::vector<int> Descriptors(const std::optional<std::vector<OpenConnection>>& connections) {
  EXPECT_TRUE(connections.has_value());
  std::vector<int> descriptors;
  for (const OpenConnection& c : connections.value_or(std::vector<OpenConnection>())) descriptors.push_back(c.fd);
  return descriptors;
}

uint64_t InodeOf(const Socket& socket) {
  struct stat file {};
  EXPECT_EQ(fstat(socket.fd(), &file), 0);
  return file.st_ino;
}

TEST_F(TcpConnections, AreDescribedByDescriptorInodeAndPeer) {
  const Socket client = Connect(endpoints_[0]);
  const auto found = FindConnections(endpoints_);
  ASSERT_THAT(Descriptors(found), ElementsAre(client.fd()));
  EXPECT_EQ(found->at(0).id, InodeOf(client));
  EXPECT_TRUE(found->at(0).is_tcp);
  EXPECT_EQ(found->at(0).peer_host, "127.0.0.1");
  EXPECT_EQ(found->at(0).peer_port, port_);
}

TEST_F(TcpConnections, ThoseThatAreExceptedAreNotThere) {
  const Socket first = Connect(endpoints_[0]);
  const Socket second = Connect(endpoints_[0]);
  const Socket third = Connect(endpoints_[0]);
  const std::set<uint64_t> except = {InodeOf(first), InodeOf(third), 0};
  EXPECT_THAT(Descriptors(FindConnections(endpoints_, except)), ElementsAre(second.fd()));
  EXPECT_EQ(CountConnections(endpoints_, except), 1);
  EXPECT_EQ(CountConnections(endpoints_), 3);
}

TEST_F(TcpConnections, AcceptedOnesAreFoundByThePortTheyCameTo) {
  const std::vector<Target> listening = {{"127.0.0.1", port_, ""}};
  EXPECT_THAT(Descriptors(FindAccepted(listening)), IsEmpty()) << "the listening socket is none";
  const Socket client = Connect(endpoints_[0]);
  EXPECT_THAT(Descriptors(FindAccepted(listening)), IsEmpty()) << "nor is the one that connects";
  const Socket accepted = Accept(listener_);
  const auto found = FindAccepted(listening);
  ASSERT_THAT(Descriptors(found), ElementsAre(accepted.fd()));
  EXPECT_EQ(found->at(0).id, InodeOf(accepted));
  EXPECT_TRUE(found->at(0).is_tcp);
  EXPECT_EQ(found->at(0).peer_host, "127.0.0.1");
  EXPECT_EQ(found->at(0).peer_port, PortOf(client));

  EXPECT_THAT(Descriptors(FindAccepted({{"127.0.0.1", port_ + 1, ""}})), IsEmpty());
  EXPECT_THAT(Descriptors(FindAccepted({})), IsEmpty());
  EXPECT_THAT(Descriptors(FindAccepted({{"", 0, "/run/ping.sock"}, listening[0]})), ElementsAre(accepted.fd()));
}

TEST_F(TcpConnections, AcceptedOnesThatThePeerHasClosedAreNotThere) {
  Socket client = Connect(endpoints_[0]);
  const Socket accepted = Accept(listener_);
  client.Close();
  char byte = 0;
  ASSERT_EQ(read(accepted.fd(), &byte, 1), 0) << "waits for the peer's end";
  EXPECT_THAT(Descriptors(FindAccepted({{"127.0.0.1", port_, ""}})), IsEmpty());
}

TEST(DualStackConnections, AcceptedOnesOfBothFamiliesAreFound) {
  const Socket listener = ListenDualStack();
  if (listener.fd() < 0) GTEST_SKIP() << "no IPv6 here: " << std::strerror(errno);
  const int port = PortOf(listener);
  const Socket v4 = Connect(Loopback4(port));
  const Socket accepted4 = Accept(listener);
  auto found = FindAccepted({{"::", port, ""}});
  ASSERT_THAT(Descriptors(found), ElementsAre(accepted4.fd()));
  EXPECT_EQ(found->at(0).peer_host, "127.0.0.1") << "not as ::ffff:127.0.0.1";
  EXPECT_EQ(found->at(0).peer_port, PortOf(v4));

  const auto loopback6 = ResolveTargets({{"::1", port, ""}});
  Socket v6(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!loopback6.ok() || connect(v6.fd(), AddressOf(loopback6->at(0)), loopback6->at(0).length) != 0) {
    GTEST_SKIP() << "no IPv6 loopback here: " << std::strerror(errno);
  }
  const Socket accepted6 = Accept(listener);
  found = FindAccepted({{"::", port, ""}});
  ASSERT_THAT(Descriptors(found), UnorderedElementsAre(accepted4.fd(), accepted6.fd()));
  for (const OpenConnection& connection : *found) {
    if (connection.fd != accepted6.fd()) continue;
    EXPECT_EQ(connection.peer_host, "::1");
    EXPECT_EQ(connection.peer_port, PortOf(v6));
  }
  EXPECT_THAT(Descriptors(FindConnections(*loopback6)), ElementsAre(v6.fd()));
}

class UnixConnections : public testing::Test {
 protected:
  ~UnixConnections() override { unlink(path_.c_str()); }

  std::string path_ = absl::StrCat(testing::TempDir(), "cqbench_", getpid(), ".sock");
  std::vector<Endpoint> endpoints_ = ResolveTargets({{"", 0, path_}}).value();
};

TEST_F(UnixConnections, ConnectedSocketsCountListeningAndAcceptedOnesDoNot) {
  const Socket listener = Listen(endpoints_[0]);
  EXPECT_EQ(CountConnections(endpoints_), 0);
  Socket first = Connect(endpoints_[0]);
  const Socket second = Connect(endpoints_[0]);
  const Socket accepted = Accept(listener);
  EXPECT_EQ(CountConnections(endpoints_), 2);
  first.Close();
  EXPECT_EQ(CountConnections(endpoints_), 1);
}

TEST_F(UnixConnections, ThoseToOtherPathsDoNotCount) {
  const Socket listener = Listen(endpoints_[0]);
  const Socket client = Connect(endpoints_[0]);
  EXPECT_EQ(CountConnections(ResolveTargets({{"", 0, path_ + "2"}}).value()), 0);
}

TEST_F(UnixConnections, HaveAnInodeAndNoPort) {
  const Socket listener = Listen(endpoints_[0]);
  const Socket client = Connect(endpoints_[0]);
  const auto found = FindConnections(endpoints_);
  ASSERT_THAT(Descriptors(found), ElementsAre(client.fd()));
  EXPECT_FALSE(found->at(0).is_tcp);
  EXPECT_EQ(found->at(0).id, InodeOf(client));
  EXPECT_EQ(found->at(0).peer_host, "");
  EXPECT_EQ(found->at(0).peer_port, 0);
  EXPECT_EQ(CountConnections(endpoints_, {InodeOf(client)}), 0);
}

TEST_F(UnixConnections, AcceptedOnesAreFoundByThePathTheyCameTo) {
  const Socket listener = Listen(endpoints_[0]);
  const Socket client = Connect(endpoints_[0]);
  EXPECT_THAT(Descriptors(FindAccepted({{"", 0, path_}})), IsEmpty());
  const Socket accepted = Accept(listener);
  const auto found = FindAccepted({{"", 0, path_}});
  ASSERT_THAT(Descriptors(found), ElementsAre(accepted.fd()));
  EXPECT_FALSE(found->at(0).is_tcp);
  EXPECT_THAT(Descriptors(FindAccepted({{"", 0, path_ + "2"}})), IsEmpty());
  EXPECT_THAT(Descriptors(FindAccepted({{"127.0.0.1", 0, ""}})), IsEmpty());
}

TEST(ResolveTargets, LocalhostHasLoopbackAddressesWithThePort) {
  const auto endpoints = ResolveTargets({{"localhost", 2137, ""}});
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  ASSERT_FALSE(endpoints->empty());
  for (const Endpoint& endpoint : *endpoints) {
    if (endpoint.address.ss_family == AF_INET) {
      const auto& v4 = reinterpret_cast<const sockaddr_in&>(endpoint.address);
      EXPECT_EQ(ntohs(v4.sin_port), 2137);
      EXPECT_EQ(ntohl(v4.sin_addr.s_addr) >> 24, 127u);
    } else {
      ASSERT_EQ(endpoint.address.ss_family, AF_INET6);
      const auto& v6 = reinterpret_cast<const sockaddr_in6&>(endpoint.address);
      EXPECT_EQ(ntohs(v6.sin6_port), 2137);
      EXPECT_TRUE(IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr));
    }
  }
}

TEST(ResolveTargets, UnixSocketIsItsPath) {
  const auto endpoints = ResolveTargets({{"", 0, "/run/ping.sock"}});
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  ASSERT_EQ(endpoints->size(), 1u);
  const auto& address = reinterpret_cast<const sockaddr_un&>(endpoints->at(0).address);
  EXPECT_EQ(address.sun_family, AF_UNIX);
  EXPECT_STREQ(address.sun_path, "/run/ping.sock");
}

TEST(ResolveTargets, EveryTargetIsThere) {
  const auto endpoints = ResolveTargets({{"127.0.0.1", 1, ""}, {"127.0.0.2", 2, ""}, {"", 0, "/s"}});
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  EXPECT_EQ(endpoints->size(), 3u);
}

TEST(ResolveTargets, UnknownNameIsNotFoundInOneLineThatNamesIt) {
  // The label is longer than the 63 bytes that DNS allows: the resolver refuses it without asking the network.
  const std::string name(70, 'x');
  const auto endpoints = ResolveTargets({{"127.0.0.1", 1, ""}, {name, 2137, ""}});
  ASSERT_FALSE(endpoints.ok());
  EXPECT_EQ(endpoints.status().code(), absl::StatusCode::kNotFound);
  const std::string message(endpoints.status().message());
  EXPECT_THAT(message, HasSubstr(absl::StrCat("'", name, "'")));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(RemoveOwn, LeavesThoseOfOthers) {
  const Socket listener = Listen(Loopback4(0));
  const int port = PortOf(listener);
  const Socket own = Connect(Loopback4(port)), accepted = Accept(listener);
  int told[2] = {};
  ASSERT_EQ(pipe2(told, 0), 0);
  const pid_t child = fork();  // makes a client in another process
  if (child == 0) {
    const Socket other = Connect(Loopback4(port));
    close(own.fd());
    close(told[1]);
    char byte = 0;
    (void)!read(told[0], &byte, 1);
    _exit(0);
  }
  const Socket of_other = Accept(listener);
  auto connections = FindAccepted({{"127.0.0.1", port, ""}});
  ASSERT_TRUE(connections);
  EXPECT_EQ(connections->size(), 2u);
  RemoveOwn(*connections);
  ASSERT_EQ(connections->size(), 1u);
  EXPECT_EQ(connections->front().fd, of_other.fd());
  close(told[1]);
  close(told[0]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace cqbench
