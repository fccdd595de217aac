// Addresses as the user writes them and as gRPC takes them.
#include "src/base/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

constexpr int kDefaultPort = 2137;

struct GoodAddress {
  const char* text;
  Target target;
  const char* printed;
};

TEST(ParseTarget, AcceptsEveryDocumentedForm) {
  for (const GoodAddress& good : {
           GoodAddress{"localhost", {"localhost", kDefaultPort, ""}, "localhost:2137"},
           GoodAddress{"server-host:50051", {"server-host", 50051, ""}, "server-host:50051"},
           GoodAddress{"10.0.0.7:1", {"10.0.0.7", 1, ""}, "10.0.0.7:1"},
           GoodAddress{"host:65535", {"host", 65535, ""}, "host:65535"},
           GoodAddress{"host:0", {"host", 0, ""}, "host:0"},
           GoodAddress{"::1", {"::1", kDefaultPort, ""}, "[::1]:2137"},
           GoodAddress{"fe80::1:2", {"fe80::1:2", kDefaultPort, ""}, "[fe80::1:2]:2137"},
           GoodAddress{"[::1]", {"::1", kDefaultPort, ""}, "[::1]:2137"},
           GoodAddress{"[2001:db8::7]:443", {"2001:db8::7", 443, ""}, "[2001:db8::7]:443"},
           GoodAddress{"unix:/run/ping.sock", {"", 0, "/run/ping.sock"}, "unix:/run/ping.sock"},
           GoodAddress{"unix:relative.sock", {"", 0, "relative.sock"}, "unix:relative.sock"},
           GoodAddress{"unix:///run/ping.sock", {"", 0, "/run/ping.sock"}, "unix:/run/ping.sock"},
       }) {
    const auto target = ParseTarget(good.text, kDefaultPort);
    ASSERT_TRUE(target.ok()) << good.text << ": " << target.status();
    EXPECT_EQ(*target, good.target) << good.text;
    EXPECT_EQ(target->ToString(), good.printed);
  }
}

TEST(ParseTarget, WhatItPrintsIsReadBackAsTheSame) {
  for (const char* text : {"localhost", "host:1", "[::1]:443", "::1", "unix:/run/ping.sock"}) {
    const Target target = ParseTarget(text, kDefaultPort).value();
    EXPECT_EQ(ParseTarget(target.ToString(), 1).value(), target) << text;
  }
}

TEST(ParseTarget, RefusesEverythingElseInOneLineThatQuotesIt) {
  const std::vector<std::string> refused = absl::StrSplit(
      "|:|:2137|host:|host:http|host:-1|host:65536|host:99999999999999999999|[::1|[]|[]:1|[::1]:|[::1]x|"
      "[::1]2137|::1]|two words|dns:///host|http://host|host/path|a,b|unix:|unix-abstract:name|unix|dns:53|"
      "IPv4:2137|unix:/two words|unix:/a%20b|unix:/a?b|unix://host/ping.sock|fe80::1%eth0",
      '|');
  for (const std::string& text : refused) {
    const auto target = ParseTarget(text, kDefaultPort);
    ASSERT_FALSE(target.ok()) << text << " became " << target->ToString();
    EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument);
    const std::string message(target.status().message());
    EXPECT_THAT(message, HasSubstr(absl::StrCat("'", text, "'")));
    EXPECT_THAT(message, HasSubstr("are accepted"));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(ParseTarget, SocketPathMayBeAsLongAsASocketAddressHolds) {
  const std::string longest = absl::StrCat("/", std::string(106, 's'));
  EXPECT_EQ(ParseTarget("unix:" + longest, 0).value().unix_path, longest);
  EXPECT_FALSE(ParseTarget("unix:" + longest + "s", 0).ok());
}

TEST(ParseTargets, SeparatesWithCommas) {
  const auto targets = ParseTargets("a,b:1,[::1]:2,unix:/s", kDefaultPort);
  ASSERT_TRUE(targets.ok()) << targets.status();
  ASSERT_EQ(targets->size(), 4u);
  EXPECT_EQ((*targets)[0].ToString(), "a:2137");
  EXPECT_EQ((*targets)[1].ToString(), "b:1");
  EXPECT_EQ((*targets)[2].ToString(), "[::1]:2");
  EXPECT_EQ((*targets)[3].ToString(), "unix:/s");
}

TEST(ParseTargets, OneBadItemRefusesTheList) {
  for (const char* text : {"", ",", "a,", ",a", "a,,b", "a,b:99999"}) {
    EXPECT_FALSE(ParseTargets(text, kDefaultPort).ok()) << text;
  }
}

}  // namespace
}  // namespace cqbench
