// What gRPC's API does not say or do about TLS, with the OpenSSL that it uses: files are checked before they are
// handed over, versions and ciphers are limited, and what connections agreed on is seen.
//
// gRPC 1.51.1 has no call for the least version, and no release one for ciphers; both OpenSSL and gRPC take them as
// settings of the process. What was negotiated no release says at all. A handshake of our own would not tell: two ends
// of 1.51.1 agree on an ALPN protocol of gRPC's. So we look: OpenSSL calls us for the messages of the handshakes of
// gRPC's connections, and no more once one is there.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/base/target.h"
#include "src/config/security.h"

namespace cqbench {

// Whether what was read from the files is what it should be: PEM, certificates, a key without a passphrase that belongs
// to the certificate. INVALID_ARGUMENT with one line that names flag and file.
absl::Status CheckTlsFiles(const Security& security);

// INVALID_ARGUMENT with one line for ciphers that OpenSSL does not know or has only in versions that are not allowed.
absl::Status CheckTlsLimits(const Security& security);

// Makes the process's OpenSSL and gRPC keep to version and ciphers, and begins to watch. Once, before the first use of
// gRPC, while there is one thread. As CheckTlsLimits(); UNAVAILABLE when OpenSSL does not take the settings.
absl::Status PrepareTls(const Security& security);

// What the connections agreed on whose handshakes were done since the last ForgetHandshakes(): each kind once. Empty
// when there were none, or when gRPC has a TLS library of its own built in. Any thread.
std::vector<NegotiatedTls> SeenHandshakes();
void ForgetHandshakes();

// Why versions and ciphers of `security` cannot be relied on, once gRPC has credentials: a gRPC with a TLS library of
// its own built in knows nothing of the settings. One line; empty: they can.
std::string WhyNotKept(const Security& security);

// What a handshake of our own says, with the same settings, of a server to which gRPC has no connection.
struct TlsTrial {
  std::string why;       // there is none: one line; empty: there is
  bool lasting = false;  // it is of no use to try again
};
// Of the target's addresses the first that does, or what the first that could be connected to says; for at most a
// second each. Blocks for as long as the resolver does.
TlsTrial TryTls(const Target& target, const Security& security);

// What to warn of: that the certificate of this end has expired, or is not valid yet. Empty: nothing.
std::string WarnOfCertificate(const Security& security);

}  // namespace cqbench
