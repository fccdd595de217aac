// Our reading of a connection's TCP_INFO is equal to the output of ss.

#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/observe/sampling/tcp_info.h"
#include "tests/smoke/process.h"
#include "tests/tcp_pair.h"

namespace cqbench::smoke {
namespace {

// Returns the number after "name:"; ss omits values that are 0.
double Printed(const std::string& text, const std::string& name) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(absl::StrCat("[ \t]", name, ":([0-9.]+)"))) ? std::stod(match[1])
                                                                                               : 0;
}

TEST(SocketStatisticsTest, AgreeWithSs) {
  const TcpPair pair;
  pair.PingPong(200, 300, 700);
  usleep(200'000);  // a delayed acknowledgement may still be on its way
  Process ss({"/usr/bin/ss", "-tinHO", "sport", "=", absl::StrCat(":", pair.client_port())});
  ASSERT_EQ(ss.Wait(Seconds(10)), 0) << ss.err() << " (is iproute2 installed?)";
  const std::string& text = ss.out();
  const auto ours = ReadTcpInfo(pair[0]);
  ASSERT_TRUE(ours.has_value());
  EXPECT_EQ(static_cast<double>(ours->segments_sent()), Printed(text, "data_segs_out")) << text;
  EXPECT_EQ(static_cast<double>(ours->segments_received()), Printed(text, "data_segs_in")) << text;
  EXPECT_EQ(static_cast<double>(ours->bytes_sent()), Printed(text, "bytes_acked")) << text;
  EXPECT_EQ(static_cast<double>(ours->bytes_received()), Printed(text, "bytes_received")) << text;
  EXPECT_EQ(static_cast<double>(ours->busy_ns() / kNanosPerMilli), Printed(text, "busy")) << text;
  EXPECT_NEAR(static_cast<double>(ours->rtt_smoothed_ns()), Printed(text, "rtt") * 1e6, 1000) << text;
  EXPECT_NEAR(static_cast<double>(ours->rtt_min_ns()), Printed(text, "minrtt") * 1e6, 1000) << text;
  EXPECT_NE(text.find(absl::StrCat(" ", ours->congestion_control(), " ")), std::string::npos) << text;
  EXPECT_EQ(ours->segments_sent(), 200u);
  EXPECT_EQ(ours->bytes_received(), 200u * 700u);
  EXPECT_TRUE(ours->no_delay());
}

}  // namespace
}  // namespace cqbench::smoke
