// Adds to gRPC's TLS what its API lacks, with the OpenSSL that gRPC uses: files are checked before they are
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

// Checks the contents of the files: PEM, certificates, and a key without a passphrase that belongs
// to the certificate. INVALID_ARGUMENT with one line that names flag and file.
absl::Status CheckTlsFiles(const Security& security);

// INVALID_ARGUMENT with one line for ciphers that OpenSSL does not know or has only in versions that are not allowed.
absl::Status CheckTlsLimits(const Security& security);

// Makes the process's OpenSSL and gRPC keep to version and ciphers, and begins to watch. Once, before the first use of
// gRPC, while there is one thread. As CheckTlsLimits(); UNAVAILABLE when OpenSSL does not take the settings.
absl::Status PrepareTls(const Security& security);

// Returns what handshakes since the last ForgetHandshakes() negotiated, each distinct result once. Empty
// when there were none, or when gRPC has a TLS library of its own built in. Any thread.
std::vector<NegotiatedTls> SeenHandshakes();
void ForgetHandshakes();

// FAILED_PRECONDITION, once gRPC has credentials, if versions and ciphers of `security` cannot be relied on: a gRPC
// with a TLS library of its own built in does not know the settings.
absl::Status ValidateTlsLimitsReachLibrary(const Security& security);

// The result of a handshake of our own, with the same settings, with a server to which gRPC cannot connect.
struct TlsTrial {
  std::string why;       // there is none: one line; empty: there is
  bool lasting = false;  // it is of no use to try again
};
// Tries the target's addresses in turn and returns the first success, or the first error of a connected one; at most a
// second each. Blocks for as long as the resolver does.
TlsTrial TryTls(const Target& target, const Security& security);

// Returns a warning if this end's certificate has expired or is not valid yet, else "".
std::string WarnOfCertificate(const Security& security);

}  // namespace cqbench
