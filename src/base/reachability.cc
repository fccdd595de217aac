#include "src/base/reachability.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "src/base/clock.h"

namespace cqbench {
namespace {

constexpr Nanos kPatience = 500 * kNanosPerMilli;

// TLS 1.2, as small as a server may ask for: whatever it makes of it, it answers with a record of TLS, if only an
// alert.
constexpr unsigned char kClientHello[] = {
    22, 3, 1, 0, 86,  // a record of the handshake
    1, 0, 0, 82, 3, 3,
    // the client's random number: any
    'c', 'q', 'b', 'e', 'n', 'c', 'h', ' ', 'a', 's', 'k', 's', ' ', 'w', 'h', 'a', 't', ' ', 'y', 'o', 'u', ' ', 's',
    'p', 'e', 'a', 'k', ' ', 'h', 'e', 'r', 'e',
    0,                                               // no session
    0, 8, 0xc0, 0x2f, 0xc0, 0x2b, 0, 0x9c, 0, 0x2f,  // ciphers: ECDHE with either key, RSA
    1, 0,                                            // no compression
    0, 33,                                           // extensions
    0, 10, 0, 6, 0, 4, 0, 29, 0, 23,                 // groups: X25519, P-256
    0, 13, 0, 10, 0, 8, 4, 3, 4, 1, 8, 4, 5, 1,      // signatures
    0, 16, 0, 5, 0, 3, 2, 'h', '2',                  // the protocol inside: HTTP/2
};

// A connection of our own, to be closed.
class Plain {
 public:
  explicit Plain(const Endpoint& endpoint)
      : socket_(BeginConnect(endpoint)), error_(socket_.ok() ? FinishConnect(socket_, {NowNs() + kPatience}) : errno) {}

  int error() const { return error_; }  // 0: connected
  bool IsRefused() const { return error_ == ECONNREFUSED || error_ == ENOENT; }

  // A server without TLS may say something at once (HTTP/2: its settings), hang up, or wait for more.
  bool SpeaksTls() {
    const int fd = socket_.fd();
    if (error_ != 0 || send(fd, kClientHello, sizeof(kClientHello), MSG_NOSIGNAL) != sizeof(kClientHello)) return false;
    unsigned char reply[2] = {};
    if (!AwaitEvents(fd, POLLIN, NowNs() + kPatience) || recv(fd, reply, sizeof(reply), 0) != sizeof(reply)) {
      return false;
    }
    constexpr unsigned char kAlert = 21, kHandshake = 22, kMajorVersion = 3;
    return (reply[0] == kAlert || reply[0] == kHandshake) && reply[1] == kMajorVersion;
  }

 private:
  const Descriptor socket_;
  const int error_;
};

}  // namespace

std::string ExplainNoConnection(const std::vector<Endpoint>& endpoints) {
  int last_error = 0;
  for (const Endpoint& endpoint : endpoints) {
    Plain plain(endpoint);
    last_error = plain.error();
    if (last_error != 0) continue;
    if (plain.SpeaksTls()) return "the server speaks TLS, and this client does only with --tls";
    return "a plain connection works, gRPC's does not: is it a gRPC server, are channel arguments right?";
  }
  return std::strerror(last_error);
}

bool IsUnreachable(const std::vector<Endpoint>& endpoints) {
  for (const Endpoint& endpoint : endpoints) {
    Plain plain(endpoint);
    if (plain.error() == 0) return plain.SpeaksTls();
    if (!plain.IsRefused()) return false;
  }
  return !endpoints.empty();
}

}  // namespace cqbench
