// Runs the test server of the HTTP front end as a process.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/smoke/http_peer.h"

namespace cqbench::smoke {

class HttpFrontEnd {
 public:
  explicit HttpFrontEnd(const std::vector<std::string>& flags = {}) : process_(Command(flags)) {
    const auto port = process_.WaitForLine("listening on ", kHttpPatience);
    EXPECT_TRUE(port) << process_.err();
    port_ = port.value_or("0");
  }
  const std::string& port() const { return port_; }
  std::string Url(const std::string& target) const { return "http://127.0.0.1:" + port_ + target; }
  Process& process() { return process_; }

  // Returns the resident memory of the process, in bytes.
  size_t Resident() const {
    std::ifstream file("/proc/" + std::to_string(process_.pid()) + "/statm");
    size_t all = 0;
    size_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }

  // Stops the server and returns its last line.
  std::string Stop() {
    process_.Signal(SIGINT);
    EXPECT_EQ(process_.Wait(kHttpPatience), 0) << process_.err();
    return process_.WaitForLine("answers ", Seconds(1)).value_or("");
  }

 private:
  static std::vector<std::string> Command(std::vector<std::string> flags) {
    flags.insert(flags.begin(), CQBENCH_HTTP_ECHO_SERVER);
    return flags;
  }
  Process process_;
  std::string port_;
};

inline constexpr const char* kGetConstant = "GET /constant HTTP/1.1\r\nHost: x\r\n\r\n";

inline bool Serves(const HttpFrontEnd& front_end) {
  HttpSocket socket(front_end.port());
  return socket.Send(kGetConstant) && socket.ReadUntil("{\"ok\":true}").find("HTTP/1.1 200") == 0;
}

}  // namespace cqbench::smoke
