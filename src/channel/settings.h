// Which versions and ciphers `security` leaves, for gRPC and for handshakes of our own.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/config/security.h"

namespace cqbench {

// The ciphers of TLS 1.3 have names and settings of their own. A version without any cipher is not spoken.
struct TlsLimits {
  std::string ciphers_12;  // as OpenSSL takes them: "A:B"; empty: the default ones, or none where 1.2 is not spoken
  std::string ciphers_13;
  bool without_12 = false;
  bool without_13 = false;
};

// INVALID_ARGUMENT with one line that names flag and cipher.
absl::StatusOr<TlsLimits> LimitsOf(const Security& security);

}  // namespace cqbench
