#include "src/channel/settings.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/channel/handles.h"
#include "src/channel/handshakes.h"
#include "src/channel/tls.h"

namespace cqbench {
namespace {

bool IsOf13(const std::string& cipher) {
  return absl::StartsWith(cipher, "TLS_");
}

// By the very name: OpenSSL would take patterns, too, and leave out what it does not know.
bool IsKnown(const std::string& cipher) {
  const SslContextPtr context(SSL_CTX_new(TLS_method()));
  if (IsOf13(cipher)) {
    SSL_CTX_set_ciphersuites(context.get(), cipher.c_str());
  } else {
    SSL_CTX_set_cipher_list(context.get(), cipher.c_str());
  }
  ERR_clear_error();
  const STACK_OF(SSL_CIPHER)* const ciphers = SSL_CTX_get_ciphers(context.get());
  for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
    if (SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, i)) == cipher) return true;
  }
  return false;
}

// Sets OpenSSL's "system_default", with which every context of the process begins. gRPC then sets minimum and maximum
// version by itself, but leaves alone which of those between are switched off.
absl::Status MakeSystemDefault(const TlsLimits& limits) {
  std::string text = "openssl_conf = cqbench\n[cqbench]\nssl_conf = tls\n[tls]\nsystem_default = limits\n[limits]\n";
  if (limits.without_12) absl::StrAppend(&text, "Protocol = ALL,-TLSv1.2\n");
  if (limits.without_13) absl::StrAppend(&text, "Protocol = ALL,-TLSv1.3\n");
  if (!limits.ciphers_13.empty()) absl::StrAppend(&text, "Ciphersuites = ", limits.ciphers_13, "\n");
  OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, nullptr);  // the machine's, which would replace ours if it came later
  OPENSSL_load_builtin_modules();
  const ConfPtr conf(NCONF_new(nullptr));
  long line = 0;
  if (conf == nullptr || NCONF_load_bio(conf.get(), BioOf(text).get(), &line) <= 0 ||
      CONF_modules_load(conf.get(), nullptr, 0) <= 0) {
    return absl::UnavailableError(absl::StrCat("OpenSSL does not take the TLS settings: ", LastTlsError()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsLimits> LimitsOf(const Security& security) {
  std::vector<std::string> of_12, of_13;
  for (const std::string& cipher : security.ciphers) {
    if (!IsKnown(cipher)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--tls-ciphers: '", cipher,
                       "' is no cipher that OpenSSL has by that name: `openssl ciphers -s -v` lists those accepted"));
    }
    (IsOf13(cipher) ? of_13 : of_12).push_back(cipher);
  }
  TlsLimits limits;
  limits.ciphers_12 = absl::StrJoin(of_12, ":");
  limits.ciphers_13 = absl::StrJoin(of_13, ":");
  const bool chosen = !security.ciphers.empty();
  limits.without_12 = security.min_version == TlsVersion::k13 || (chosen && of_12.empty());
  limits.without_13 = chosen && of_13.empty();
  if (limits.without_12 && limits.without_13) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-ciphers: none of ", CipherList(security),
                     " is of TLS 1.3, which --tls-min-version asks for: their names begin with TLS_"));
  }
  if (limits.without_12 && !of_12.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-ciphers: ", of_12.front(), " is of TLS 1.2, which --tls-min-version rules out"));
  }
  return limits;
}

absl::Status CheckTlsLimits(const Security& security) {
  return LimitsOf(security).status();
}

absl::Status PrepareTls(const Security& security) {
  if (!security.tls) return absl::OkStatus();
  const auto limits = LimitsOf(security);
  if (!limits.ok()) return limits.status();
  // Read by gRPC when it makes its first credentials; only for ciphers up to TLS 1.2.
  if (!limits->ciphers_12.empty()) setenv("GRPC_SSL_CIPHER_SUITES", limits->ciphers_12.c_str(), /*overwrite=*/1);
  if (limits->without_12 || limits->without_13 || !limits->ciphers_13.empty()) {
    if (const absl::Status limited = MakeSystemDefault(*limits); !limited.ok()) return limited;
  }
  WatchHandshakes();
  return absl::OkStatus();
}

}  // namespace cqbench
