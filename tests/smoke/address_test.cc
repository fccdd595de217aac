// Addresses of servers and clients: Unix sockets, IPv6, several hosts, addresses that are taken.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"
#include "tests/smoke/sockets.h"

namespace cqbench::smoke {
namespace {

ClientRun Measure(const std::string& hosts, const std::string& policy, int inflight) {
  return RunClient(Flags{"--host", hosts, "--channel-policy", policy, "--inflight", std::to_string(inflight), "--api",
                         "cq", "--format", "json"} +
                   Short());
}

// Expects that the server fails with that exit status and one line that contains each of the parts.
void ExpectServerRefuses(const Flags& flags, int exit_code, const std::vector<std::string>& parts) {
  Process server(Flags{CQBENCH_SERVER} + flags);
  EXPECT_EQ(server.Wait(kPatience), exit_code) << server.out();
  EXPECT_EQ(server.out(), "");
  ExpectOneLine(server.err(), parts);
}

class UnixSocketTest : public testing::TestWithParam<std::string> {};

TEST_P(UnixSocketTest, CarriesCalls) {
  const TemporaryDirectory directory;
  const std::string address = "unix:" + directory.path() + "/ping.sock";
  Server server({"--api", GetParam(), "--listen", address});
  EXPECT_EQ(server.address(), address);
  for (const auto& [policy, connections] : {std::pair("shared", 1), std::pair("local-pool", 3)}) {
    const Json point = Measure(address, policy, 3).CleanPoint();
    EXPECT_EQ(point.at("connections"), connections) << policy;
  }
  EXPECT_EQ(server.Stop(SIGTERM).failed, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, UnixSocketTest, testing::ValuesIn(kServerApis), ServerName);

TEST(AddressTest, UnixSocketInUseIsRefusedAndALeftoverOneReplaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/ping.sock";
  {
    Server first({"--listen", "unix:" + path});
    ExpectServerRefuses({"--listen", "unix:" + path}, 1, {"unix:" + path});
    first.process().Signal(SIGKILL);
    EXPECT_EQ(first.process().Wait(kPatience), -SIGKILL);
  }
  struct stat leftover {};
  ASSERT_EQ(lstat(path.c_str(), &leftover), 0);
  Server second({"--listen", "unix:" + path});
  EXPECT_EQ(Measure("unix:" + path, "shared", 1).exit_code, 0);
}

TEST(AddressTest, FileInThePlaceOfAUnixSocketIsKept) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/precious";
  std::ofstream(path) << "data";
  ExpectServerRefuses({"--listen", "unix:" + path}, 1, {path});
  std::string content;
  std::ifstream(path) >> content;
  EXPECT_EQ(content, "data");
}

TEST(AddressTest, IPv6) {
  if (!BoundSocket::IPv6Works()) GTEST_SKIP() << "this machine has no ::1";
  Server server({"--listen", "[::1]:0"});
  EXPECT_THAT(server.address(), testing::StartsWith("[::1]:"));
  const Json point = Measure(server.address(), "local-pool", 2).CleanPoint();
  EXPECT_EQ(point.at("connections"), 2);
}

TEST(AddressTest, HostAndPortApart) {
  Server server({"--host", "127.0.0.1", "--port", "0"});
  EXPECT_THAT(server.address(), testing::StartsWith("127.0.0.1:"));
  RunClient(Flags{"--host", "127.0.0.1", "--port", server.port(), "--inflight", "1", "--format", "json"} + Short())
      .CleanPoint();
}

TEST(AddressTest, SeveralAddressesOfOneServer) {
  const TemporaryDirectory directory;
  Server server({"--listen", "127.0.0.1:0", "--listen", "unix:" + directory.path() + "/s"});
  const Json point = Measure(server.address() + ",unix:" + directory.path() + "/s", "shared", 2).CleanPoint();
  EXPECT_EQ(point.at("connections"), 2);
}

TEST(AddressTest, SeveralHostsShareTheLoad) {
  Server a;
  Server b({"--api", "callback"});
  const std::string hosts = a.address() + "," + b.address();
  struct Case {
    const char* policy;
    int connections;
  };
  for (const Case& c : {Case{"shared", 2}, Case{"per-slot", 2}, Case{"local-pool", 4}, Case{"pool:2", 2}}) {
    SCOPED_TRACE(c.policy);
    const Json point = Measure(hosts, c.policy, 4).CleanPoint();
    EXPECT_EQ(point.at("connections"), c.connections);
  }
  EXPECT_GT(a.Stop(SIGTERM).ok, 0u);
  EXPECT_GT(b.Stop(SIGTERM).ok, 0u);
}

class TakenPortTest : public testing::TestWithParam<std::string> {};

// With SO_REUSEPORT, gRPC's default, the second server would take half of the first one's connections.
TEST_P(TakenPortTest, SecondServerFails) {
  Server first({"--api", GetParam()});
  ExpectServerRefuses({"--api", GetParam(), "--port", first.port()}, 1, {first.address()});
  EXPECT_EQ(Measure(first.address(), "shared", 1).exit_code, 0);
}

TEST_P(TakenPortTest, PortOfAnotherProgramFails) {
  BoundSocket other;
  other.Listen();
  ExpectServerRefuses({"--api", GetParam(), "--host", "127.0.0.1", "--port", std::to_string(other.port())}, 1,
                      {"127.0.0.1:" + std::to_string(other.port())});
}

INSTANTIATE_TEST_SUITE_P(All, TakenPortTest, testing::ValuesIn(kServerApis), ServerName);

TEST(AddressTest, HostThatIsNotOfThisMachineFails) {
  // RFC 5737 reserves this address for documentation: no machine has it.
  ExpectServerRefuses({"--host", "192.0.2.1", "--port", "0"}, 1, {"192.0.2.1:0"});
}

}  // namespace
}  // namespace cqbench::smoke
