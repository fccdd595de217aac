// Checks the files of --tls-ca, --tls-cert and --tls-key before gRPC reads them: gRPC would only log
// that it cannot make credentials, or nothing until the first handshake.

#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/channel/handles.h"
#include "src/channel/tls.h"

namespace cqbench {
namespace {

absl::Status Bad(absl::string_view flag, const PemFile& file, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": '", file.name, "' ", why));
}

// One certificate at least, and nothing broken between them.
absl::Status CheckCertificates(absl::string_view flag, const PemFile& file) {
  if (file.name.empty()) return absl::OkStatus();
  const BioPtr pem = BioOf(file.pem);
  ERR_clear_error();
  int certificates = 0;
  while (NextCertificate(pem.get()) != nullptr) ++certificates;
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string error = LastTlsError();
  if (!at_end) return Bad(flag, file, absl::StrCat("has a certificate that cannot be read: ", error));
  if (certificates == 0) return Bad(flag, file, "has no certificate in PEM (-----BEGIN CERTIFICATE-----)");
  return absl::OkStatus();
}

absl::Status CheckKey(const Security& security) {
  if (security.key.name.empty()) return absl::OkStatus();
  ERR_clear_error();
  const KeyPtr key = KeyOf(security.key.pem);
  const std::string error = LastTlsError();
  if (key == nullptr) {
    if (absl::StrContains(security.key.pem, "ENCRYPTED")) {
      return Bad("--tls-key", security.key,
                 "has a passphrase, for which nobody would be asked: keys without are accepted");
    }
    return Bad("--tls-key", security.key, absl::StrCat("has no private key in PEM that can be read: ", error));
  }
  const X509Ptr certificate = NextCertificate(BioOf(security.certificate.pem).get());
  const bool matches = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (matches) return absl::OkStatus();
  return Bad("--tls-key", security.key,
             absl::StrCat("is not the key of the certificate in --tls-cert '", security.certificate.name, "'"));
}

}  // namespace

absl::Status CheckTlsFiles(const Security& security) {
  if (const absl::Status ca = CheckCertificates("--tls-ca", security.ca); !ca.ok()) return ca;
  const absl::Status certificate = CheckCertificates("--tls-cert", security.certificate);
  return certificate.ok() ? CheckKey(security) : certificate;
}

std::string WarnOfCertificate(const Security& security) {
  if (security.certificate.name.empty()) return "";
  const X509Ptr certificate = NextCertificate(BioOf(security.certificate.pem).get());
  const char* why = nullptr;
  if (X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0) why = "has expired";
  if (X509_cmp_current_time(X509_get0_notBefore(certificate.get())) > 0) why = "is not valid yet";
  if (why == nullptr) return "";
  return absl::StrCat("--tls-cert: the certificate in '", security.certificate.name, "' ", why,
                      ": the other end will not take it");
}

}  // namespace cqbench
