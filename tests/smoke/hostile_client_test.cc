// What a client of bad will can do with HTTP/2 by hand: the server lives, gives its memory back and serves others.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cqbench/proto/echo.grpc.pb.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/http_peer.h"
#include "tests/unit/http2_bytes.h"

namespace cqbench::smoke {
namespace {

constexpr char kEcho[] = "/cqbench.v1.EchoService/Echo";
constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr char kSample[] = "/cqbench.control.v1.Control/Sample";
constexpr uint32_t kSettingsAck = 1;

// A line of /proc/PID/status: MiB or a number.
int Status(pid_t pid, const std::string& key) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key + ":", 0) != 0) continue;
    const int number = std::stoi(line.substr(key.size() + 1));
    return line.find("kB") == std::string::npos ? number : number / 1024;
  }
  return -1;
}

uint32_t Stream(int n) {
  return static_cast<uint32_t>(2 * n + 1);
}
std::string Open(uint32_t stream, std::string_view path, std::string_view more = {}) {
  const std::string fields = RequestFields("POST", path) + Field("te", "trailers") +
                             Field("content-type", "application/grpc") + std::string(more);
  return Frame(kHeaders, kEndHeaders, stream, fields);
}
std::string Reset(uint32_t stream) {
  return Frame(kReset, 0, stream, Number(8));
}
// A whole request; the message is shorter than a frame may be.
std::string Request(uint32_t stream, std::string_view path, std::string_view message, std::string_view more = {},
                    bool compressed = false) {
  const std::string prefix = std::string(1, compressed ? '\1' : '\0') + Number(static_cast<uint32_t>(message.size()));
  return Open(stream, path, more) + Frame(kData, kEndStream, stream, prefix + std::string(message));
}
template <typename Each>
std::string Times(int n, const Each& each) {
  std::string all;
  for (int i = 0; i < n; ++i) all += each(i);
  return all;
}

// One connection. What the server says is taken by the calls that say so, and by nobody else.
class Attacker {
 public:
  explicit Attacker(const Server& server, int receive_bytes = 0) : socket_(server.port(), receive_bytes) {
    socket_.Send(Start());
  }
  // Reads meanwhile: a server whose answers nobody takes stops reading. False: the server ended the connection.
  bool Send(const std::string& bytes) {
    bool sent = false;
    std::thread sender([&] {
      sent = socket_.Send(bytes, kPatience);
      done_ = true;
    });
    while (!done_) {
      if (socket_.Readable(Seconds(0.01))) socket_.ReadWhile([first = true]() mutable { return std::exchange(first, false); });
    }
    sender.join();
    return sent;
  }
  bool SendOnly(const std::string& bytes) { return socket_.Send(bytes, Seconds(2)); }
  // Until so many calls have been answered in some way, by their last frames.
  bool ReadEnds(int n) {
    std::string all;
    socket_.ReadWhile([&] { return false; });
    return n == 0;
  }
  HttpSocket& socket() { return socket_; }

 private:
  HttpSocket socket_;
  std::atomic<bool> done_{false};
};

}  // namespace
}  // namespace cqbench::smoke
