// A TLS session of our own with a server, over a socket that does not block. gRPC's connections are not made with it.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <cerrno>
#include <string>

#include "src/base/clock.h"
#include "src/base/sockets.h"
#include "src/base/target.h"
#include "src/channel/handles.h"
#include "src/config/security.h"

namespace cqbench {

// Returns the name that the server's certificate must be for. As gRPC has it: a Unix socket is called localhost.
std::string ServerNameOf(const Target& target, const Security& security);

class TlsSession {
 public:
  // Offers HTTP/2, with the process's limits of versions and ciphers. `fd` must outlive it.
  TlsSession(const Security& security, const std::string& server_name, int fd);

  SSL* ssl() const { return ssl_.get(); }

  // Repeats a call of OpenSSL that wants to read or write until it is done. Returns SSL_ERROR_NONE, an error as
  // SSL_get_error() has it, or, at the limit, SSL_ERROR_WANT_READ or SSL_ERROR_WANT_WRITE.
  template <typename Step>
  int Carry(Nanos give_up_at, Step step) const {
    for (;;) {
      ERR_clear_error();
      errno = 0;
      const int result = step(ssl_.get());
      if (result > 0) return SSL_ERROR_NONE;
      const int error = SSL_get_error(ssl_.get(), result);
      const bool reads = error == SSL_ERROR_WANT_READ;
      if (!reads && error != SSL_ERROR_WANT_WRITE) return error;
      if (!AwaitEvents(fd_, reads ? POLLIN : POLLOUT, give_up_at)) return error;
    }
  }

 private:
  const int fd_;
  const SslContextPtr context_;
  const SslPtr ssl_;
};

}  // namespace cqbench
