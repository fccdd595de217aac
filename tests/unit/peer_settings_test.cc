// Settings of servers that are sockets of the test: each sends what it likes, at once, slowly or never.
#include "src/channel/peer_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/clock.h"
#include "src/base/http2_settings.h"

namespace cqbench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kTwoStreams("\0\0\6\4\0\0\0\0\0\0\3\0\0\0\2", 15);
const std::string kNoSettings("\0\0\0\4\0\0\0\0\0", 9);

// Listens on a free port of 127.0.0.1. For each connection it awaits the client's preface and sends `pieces` with a
// pause before each; then it reads until the client ends the connection, or, if it `hangs_up`, ends it by itself.
class Peer {
 public:
  explicit Peer(std::vector<std::string> pieces, std::chrono::milliseconds pause = {}, bool hangs_up = false)
      : pieces_(std::move(pieces)), pause_(pause), hangs_up_(hangs_up), fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(v4);
    auto* const address = reinterpret_cast<sockaddr*>(&v4);
    EXPECT_EQ(bind(fd_, address, length), 0) << std::strerror(errno);
    EXPECT_EQ(getsockname(fd_, address, &length), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
    target_ = {"127.0.0.1", ntohs(v4.sin_port), ""};
    thread_ = std::thread([this] { Serve(); });
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { Stop(); }

  const Target& target() const { return target_; }
  void Stop() {
    if (fd_ < 0) return;
    shutdown(fd_, SHUT_RDWR);  // ends accept()
    thread_.join();
    close(std::exchange(fd_, -1));
  }
  // After Stop(): the number of connections, and what the last one received.
  int connections() const { return connections_; }
  const std::string& received() const { return received_; }

 private:
  void Serve() {
    for (int fd = accept(fd_, nullptr, nullptr); fd >= 0; fd = accept(fd_, nullptr, nullptr)) {
      ++connections_;
      received_.clear();
      while (received_.size() < Http2Hello().size() && ReadSome(fd)) {
      }
      for (const std::string& piece : pieces_) {
        std::this_thread::sleep_for(pause_);
        if (send(fd, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
      }
      while (!hangs_up_ && ReadSome(fd)) {
      }
      close(fd);
    }
  }
  bool ReadSome(int fd) {
    char bytes[256];
    const ssize_t got = read(fd, bytes, sizeof(bytes));
    if (got > 0) received_.append(bytes, static_cast<size_t>(got));
    return got > 0;
  }

  const std::vector<std::string> pieces_;
  const std::chrono::milliseconds pause_;
  const bool hangs_up_;
  int fd_;
  Target target_;
  std::thread thread_;
  int connections_ = 0;
  std::string received_;
};

PeerSettings SettingsOf(const Peer& peer) {
  RunConfig config;
  config.targets = {peer.target()};
  const std::vector<PeerSettings> settings = ReadPeerSettings(config);
  EXPECT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings.front().target, peer.target().ToString());
  return settings.front();
}

TEST(ReadPeerSettings, ReadsOneFrameAndLeavesInOrder) {
  Peer peer({kTwoStreams});
  const PeerSettings settings = SettingsOf(peer);
  EXPECT_THAT(settings.not_read, IsEmpty());
  EXPECT_EQ(settings.announced, (Http2Settings{2, {}, {}, {}}));
  peer.Stop();
  EXPECT_EQ(peer.connections(), 1);
  EXPECT_EQ(peer.received(), std::string(Http2Hello()) + std::string(Http2Goodbye()));
}

TEST(ReadPeerSettings, TakesAFrameInPieces) {
  std::vector<std::string> bytes;
  for (const char byte : kTwoStreams) bytes.emplace_back(1, byte);
  EXPECT_EQ(SettingsOf(Peer(bytes, std::chrono::milliseconds(5))).announced.max_concurrent_streams, 2u);
}

TEST(ReadPeerSettings, EachServerHasItsOwn) {
  const Peer two({kTwoStreams}), none({kNoSettings}), not_http2({"HTTP/1.1 400 Bad Request\r\n\r\n"});
  RunConfig config;
  config.targets = {two.target(), not_http2.target(), none.target()};
  const std::vector<PeerSettings> all = ReadPeerSettings(config);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].announced.max_concurrent_streams, 2u);
  EXPECT_THAT(all[1].not_read, HasSubstr("responds with HTTP/1"));
  EXPECT_EQ(all[1].announced, Http2Settings());
  EXPECT_THAT(all[2].not_read, IsEmpty());
  EXPECT_EQ(all[2].announced, Http2Settings());
}

TEST(ReadPeerSettings, ServersThatBreakTheRulesAreNotRead) {
  const std::string giant("\xff\xff\xff\4\0\0\0\0\0", 9),
      other_first(std::string("\0\0\0\6\0\0\0\0\0", 9) + kTwoStreams);
  EXPECT_THAT(SettingsOf(Peer({giant})).not_read, HasSubstr("has 16777215 bytes; at most 16384"));
  EXPECT_THAT(SettingsOf(Peer({other_first})).not_read, HasSubstr("its first frame has type 6"));
  EXPECT_THAT(SettingsOf(Peer({std::string(1 << 20, '\0')})).not_read, HasSubstr("its first frame has type 0"));
  EXPECT_THAT(SettingsOf(Peer({kTwoStreams.substr(0, 12)}, {}, /*hangs_up=*/true)).not_read,
              HasSubstr("closed the connection before"));
  EXPECT_THAT(SettingsOf(Peer({}, {}, /*hangs_up=*/true)).not_read, HasSubstr("closed"));
}

TEST(ReadPeerSettings, NobodyListens) {
  Peer peer({});
  peer.Stop();
  EXPECT_THAT(SettingsOf(peer).not_read, HasSubstr(std::strerror(ECONNREFUSED)));
}

// However the time is spent, it is a second.
TEST(ReadPeerSettings, SilenceAndADripEndAtTheDeadline) {
  const std::vector<std::string> drip(100, std::string(1, '\0'));
  const Peer silent({}), slow(drip, std::chrono::milliseconds(200));
  for (const Peer* peer : {&silent, &slow}) {
    const Nanos begun = NowNs();
    EXPECT_THAT(SettingsOf(*peer).not_read, HasSubstr("did not send its settings within a second"));
    EXPECT_GE(NowNs() - begun, kNanosPerSecond);
  }
}

TEST(ReadPeerSettings, Http1HasNone) {
  Peer peer({kTwoStreams});
  RunConfig config;
  config.targets = {peer.target()};
  config.api = ClientApi::kHttp1;
  EXPECT_THAT(ReadPeerSettings(config).front().not_read, HasSubstr("HTTP/1.1"));
  peer.Stop();
  EXPECT_EQ(peer.connections(), 0);
}

}  // namespace
}  // namespace cqbench
