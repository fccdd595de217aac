#include "src/channel/handles.h"

#include <openssl/err.h>
#include <openssl/pem.h>

namespace cqbench {
namespace {

// Instead of OpenSSL's own, which would ask on the terminal.
int NoPassphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

BioPtr BioOf(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

X509Ptr NextCertificate(BIO* pem) {
  return X509Ptr(PEM_read_bio_X509_AUX(pem, nullptr, NoPassphrase, nullptr));
}

KeyPtr KeyOf(const std::string& pem) {
  return KeyPtr(PEM_read_bio_PrivateKey(BioOf(pem).get(), nullptr, NoPassphrase, nullptr));
}

std::string LastTlsError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason != nullptr ? reason : "unknown error";
}

}  // namespace cqbench
