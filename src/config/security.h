// TLS as it was asked for and as it came out: plain data, without gRPC or OpenSSL. Credentials are made of it once per
// run (src/channel/credentials.h): they are part of what makes the library share a connection.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "src/base/enum_names.h"

namespace cqbench {

enum class TlsVersion { k12, k13 };
constexpr auto NamesOf(TlsVersion) {
  return std::to_array<EnumName<TlsVersion>>({{TlsVersion::k12, "1.2"}, {TlsVersion::k13, "1.3"}});
}

// A file named on the command line, and what is in it. Empty: not given.
struct PemFile {
  std::string name;
  std::string pem;
};

struct Security {
  bool tls = false;  // false: none of the following
  // Whom the other end's certificate must be signed by. A client without one trusts whom gRPC does; a server with one
  // demands certificates of its clients.
  PemFile ca;
  PemFile certificate;      // of this end, with what is between it and the CA; with its key or not at all
  PemFile key;              // never printed, never in a result
  std::string server_name;  // that the server's certificate must be for; empty: what it is connected to by
  TlsVersion min_version = TlsVersion::k12;
  std::vector<std::string> ciphers;  // OpenSSL's names, no others are offered or taken; empty: the library's choice
};

// "A:B", as OpenSSL writes a list.
inline std::string CipherList(const Security& security) {
  return absl::StrJoin(security.ciphers, ":");
}

// Properties on which both ends agreed when a connection was made.
struct NegotiatedTls {
  std::string version;  // "TLSv1.3"
  std::string cipher;   // "TLS_AES_256_GCM_SHA384"
  std::string alpn;     // "h2"; empty: none
  bool mutual = false;  // this client sent a certificate, because the server asked for one
  bool operator==(const NegotiatedTls&) const = default;
};

}  // namespace cqbench
