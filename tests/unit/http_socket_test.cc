// Connecting has one time limit for all its steps, and can be stopped.
#include "src/http/client/http_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>

#include <cerrno>
#include <functional>
#include <vector>

namespace cqbench {
namespace {

using testing::HasSubstr;

// A listener on a free port of the loopback interface with a full queue: connecting neither fails nor succeeds.
class FullListener {
 public:
  FullListener() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(endpoint_.address);
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    endpoint_.length = sizeof(v4);
    auto* const address = reinterpret_cast<sockaddr*>(&endpoint_.address);
    EXPECT_EQ(bind(listener_.fd(), address, endpoint_.length), 0);
    EXPECT_EQ(getsockname(listener_.fd(), address, &endpoint_.length), 0);
    EXPECT_EQ(listen(listener_.fd(), 0), 0);
    while (waiting_.empty() || FinishConnect(waiting_.back(), {NowNs() + 300 * kNanosPerMilli, never_}) == 0) {
      waiting_.push_back(BeginConnect(endpoint_));
    }
  }
  const Endpoint& endpoint() const { return endpoint_; }
  Target target() const {
    return Target{"127.0.0.1", ntohs(reinterpret_cast<const sockaddr_in&>(endpoint_.address).sin_port), ""};
  }

 private:
  const std::function<bool()> never_ = nullptr;
  Descriptor listener_;
  Endpoint endpoint_;
  std::vector<Descriptor> waiting_;
};

TEST(HttpConnecting, IsStoppedWhileItWaits) {
  const FullListener nobody_answers;
  int asked = 0;
  const std::function<bool()> stop = [&asked] { return ++asked == 3; };
  const Descriptor socket = BeginConnect(nobody_answers.endpoint());
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ(FinishConnect(socket, {INT64_MAX, stop}), ECANCELED);
  RunConfig config;
  asked = 0;
  EXPECT_TRUE(absl::IsCancelled(Reachable(nobody_answers.target(), config, {INT64_MAX, stop}).status()));
  // The client retries when the server refuses the connection.
  config.wait_for_server = true;
  asked = 0;
  EXPECT_TRUE(absl::IsCancelled(Reachable(Target{"", 0, "/nowhere/x"}, config, {INT64_MAX, stop}).status()));
}

TEST(HttpConnecting, HasOneLimit) {
  const FullListener nobody_answers;
  const std::function<bool()> never;
  const Descriptor socket = BeginConnect(nobody_answers.endpoint());
  EXPECT_EQ(FinishConnect(socket, {NowNs() + kNanosPerMilli, never}), ETIMEDOUT);
  RunConfig config;
  config.connect_timeout_ns = 3600 * kNanosPerSecond;  // most of it has passed at the call
  const auto reached = Reachable(nobody_answers.target(), config, {NowNs() + kNanosPerMilli, never});
  EXPECT_TRUE(absl::IsUnavailable(reached.status()));
  EXPECT_THAT(std::string(reached.status().message()), HasSubstr("cannot connect to 127.0.0.1:"));
  EXPECT_THAT(std::string(reached.status().message()), HasSubstr("(Connection timed out)"));
}

}  // namespace
}  // namespace cqbench
