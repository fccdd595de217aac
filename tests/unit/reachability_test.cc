// Plain connections to servers to which the library has no connection: what they reveal. The servers are sockets of the
// test.
#include "src/base/reachability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace cqbench {
namespace {

using testing::HasSubstr;

// Listens on a free port of the loopback interface. Responds to each connection's first bytes with `answer` and closes
// it; without a response it sends nothing.
class Peer {
 public:
  explicit Peer(std::string answer = "", std::chrono::milliseconds after = {})
      : answer_(std::move(answer)), after_(after), fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(endpoint_.address);
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    endpoint_.length = sizeof(v4);
    auto* address = reinterpret_cast<sockaddr*>(&endpoint_.address);
    EXPECT_EQ(bind(fd_, address, endpoint_.length), 0) << std::strerror(errno);
    EXPECT_EQ(getsockname(fd_, address, &endpoint_.length), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
    if (!answer_.empty()) thread_ = std::thread([this] { Serve(); });
  }
  ~Peer() { Close(); }

  const Endpoint& endpoint() const { return endpoint_; }
  void Close() {
    if (fd_ < 0) return;
    shutdown(fd_, SHUT_RDWR);  // ends accept()
    if (thread_.joinable()) thread_.join();
    close(fd_);
    fd_ = -1;
  }

 private:
  void Serve() {
    for (int fd = accept(fd_, nullptr, nullptr); fd >= 0; fd = accept(fd_, nullptr, nullptr)) {
      char first[256];
      const bool asked = read(fd, first, sizeof(first)) > 0;
      std::this_thread::sleep_for(after_);
      if (asked) {
        EXPECT_EQ(write(fd, answer_.data(), answer_.size()), std::ssize(answer_));
      }
      close(fd);
    }
  }
  const std::string answer_;
  const std::chrono::milliseconds after_;
  int fd_;
  Endpoint endpoint_;
  std::thread thread_;
};

Endpoint NoSuchSocket() {
  return ResolveTargets({{"", 0, "/nowhere/ping.sock"}}).value().front();
}

TEST(Reachability, NobodyListens) {
  Peer peer;
  const std::vector<Endpoint> endpoints = {peer.endpoint()};
  peer.Close();
  EXPECT_EQ(ExplainNoConnection(endpoints), std::strerror(ECONNREFUSED));
  EXPECT_TRUE(IsUnreachable(endpoints));
  EXPECT_EQ(ExplainNoConnection({NoSuchSocket()}), std::strerror(ENOENT));
  EXPECT_TRUE(IsUnreachable({peer.endpoint(), NoSuchSocket()}));
}

TEST(Reachability, SomebodyListens) {
  const Peer peer;
  EXPECT_THAT(ExplainNoConnection({peer.endpoint()}), HasSubstr("plain connection works"));
  EXPECT_FALSE(IsUnreachable({peer.endpoint()}));
  EXPECT_FALSE(IsUnreachable({NoSuchSocket(), peer.endpoint()}));
}

TEST(Reachability, WithoutEndpointsNothingIsKnown) {
  EXPECT_FALSE(IsUnreachable({}));
}

// Responses of OpenSSL and BoringSSL begin with this, as every TLS record does.
TEST(Reachability, TlsIsRecognised) {
  for (const std::string& record : {std::string("\x15\x03\x01\0\x02\x02\x28", 7),  // an alert: handshake failure
                                    std::string("\x16\x03\x03\0\x05\x02\0\0\0\0", 10)}) {  // the server's hello
    const Peer peer(record);
    EXPECT_THAT(ExplainNoConnection({peer.endpoint()}), HasSubstr("speaks TLS"));
    EXPECT_TRUE(IsUnreachable({peer.endpoint()}));
    EXPECT_TRUE(IsUnreachable({NoSuchSocket(), peer.endpoint()}));
  }
}

// poll() is not restarted after a signal handler, whatever the handler's flags are.
class WithATimer {
 public:
  WithATimer() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++ticks; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &usual_);
    // The signal goes to this thread, like StepLimit's.
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer_), 0);
    const itimerspec times{{0, 10'000'000}, {0, 10'000'000}};
    EXPECT_EQ(timer_settime(timer_, 0, &times, nullptr), 0);
  }
  WithATimer(const WithATimer&) = delete;
  WithATimer& operator=(const WithATimer&) = delete;
  ~WithATimer() {
    timer_delete(timer_);
    sigaction(SIGALRM, &usual_, nullptr);
  }
  static inline std::atomic<int> ticks{0};

 private:
  struct sigaction usual_ {};
  timer_t timer_{};
};

TEST(Reachability, ASignalIsNoTimeout) {
  const Peer peer(std::string("\x15\x03\x01\0\x02\x02\x28", 7), std::chrono::milliseconds(100));
  const WithATimer timer;
  EXPECT_THAT(ExplainNoConnection({peer.endpoint()}), HasSubstr("speaks TLS"));
  EXPECT_GT(WithATimer::ticks, 0);
}

TEST(Reachability, OtherAnswersAreNotTls) {
  for (const std::string& answer :
       {std::string("\0\0\x06\x04\0\0\0\0\0", 9), std::string("HTTP/1.1 400 Bad Request"), std::string("\x15")}) {
    const Peer peer(answer);
    EXPECT_THAT(ExplainNoConnection({peer.endpoint()}), HasSubstr("plain connection works"));
    EXPECT_FALSE(IsUnreachable({peer.endpoint()}));
  }
}

}  // namespace
}  // namespace cqbench
