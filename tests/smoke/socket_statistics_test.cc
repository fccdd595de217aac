// What we read of a connection is what ss prints of it.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <regex>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/observe/sampling/tcp_info.h"
#include "tests/smoke/process.h"

namespace cqbench::smoke {
namespace {

struct Pair {
  int client = -1;
  int server = -1;
  int client_port = 0;

  Pair() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener, generic, length), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, generic, &length), 0);
    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    EXPECT_EQ(setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
    EXPECT_EQ(connect(client, generic, length), 0);
    server = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    EXPECT_EQ(getsockname(client, generic, &length), 0);
    client_port = ntohs(address.sin_port);
    close(listener);
  }
  ~Pair() {
    close(client);
    close(server);
  }
  void PingPong(int times, size_t request, size_t response) const {
    std::string buffer(std::max(request, response), 'x');
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(send(client, buffer.data(), request, 0), static_cast<ssize_t>(request));
      EXPECT_EQ(recv(server, buffer.data(), request, MSG_WAITALL), static_cast<ssize_t>(request));
      EXPECT_EQ(send(server, buffer.data(), response, 0), static_cast<ssize_t>(response));
      EXPECT_EQ(recv(client, buffer.data(), response, MSG_WAITALL), static_cast<ssize_t>(response));
    }
  }
};

// The number behind "name:"; what ss leaves out is 0.
double Printed(const std::string& text, const std::string& name) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(absl::StrCat("[ \t]", name, ":([0-9.]+)"))) ? std::stod(match[1])
                                                                                               : 0;
}

TEST(SocketStatisticsTest, AgreeWithSs) {
  const Pair pair;
  pair.PingPong(200, 300, 700);
  usleep(200'000);  // a delayed acknowledgement may still be on its way
  Process ss({"/usr/bin/ss", "-tinHO", "sport", "=", absl::StrCat(":", pair.client_port)});
  ASSERT_EQ(ss.Wait(Seconds(10)), 0) << ss.err() << " (is iproute2 installed?)";
  const std::string& text = ss.out();
  const auto ours = ReadTcpInfo(pair.client);
  ASSERT_TRUE(ours.has_value());
  EXPECT_EQ(static_cast<double>(ours->segments_sent), Printed(text, "data_segs_out")) << text;
  EXPECT_EQ(static_cast<double>(ours->segments_received), Printed(text, "data_segs_in")) << text;
  EXPECT_EQ(static_cast<double>(ours->bytes_sent), Printed(text, "bytes_acked")) << text;
  EXPECT_EQ(static_cast<double>(ours->bytes_received), Printed(text, "bytes_received")) << text;
  EXPECT_EQ(static_cast<double>(ours->busy_ns / kNanosPerMilli), Printed(text, "busy")) << text;
  EXPECT_NEAR(static_cast<double>(ours->rtt_smoothed_ns), Printed(text, "rtt") * 1e6, 1000) << text;
  EXPECT_NEAR(static_cast<double>(ours->rtt_min_ns), Printed(text, "minrtt") * 1e6, 1000) << text;
  EXPECT_NE(text.find(absl::StrCat(" ", ours->congestion_control, " ")), std::string::npos) << text;
  EXPECT_EQ(ours->segments_sent, 200u);
  EXPECT_EQ(ours->bytes_received, 200u * 700u);
  EXPECT_TRUE(ours->no_delay);
}

}  // namespace
}  // namespace cqbench::smoke
