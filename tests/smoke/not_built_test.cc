// A program without the HTTP part: its flags are refused with what is missing.

#include <gtest/gtest.h>

#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

TEST(NotBuiltTest, ClientOverHttp) {
  Process client(Flags{CQBENCH_CLIENT, "--api", "http1", "--workload", "library"});
  EXPECT_EQ(client.Wait(kPatience), 2) << client.out();
  EXPECT_EQ(client.out(), "");
  ExpectOneLine(client.err(), {"--api", "http1", "not built", "needs"});
}

TEST(NotBuiltTest, HttpFrontEndOfTheServer) {
  Process server(Flags{CQBENCH_SERVER, "--port", "0", "--http", "localhost:0"});
  EXPECT_EQ(server.Wait(kPatience), 2) << server.out();
  EXPECT_EQ(server.out(), "");
  ExpectOneLine(server.err(), {"--http", "not built", "needs"});
}

}  // namespace
}  // namespace cqbench::smoke
