// OpenSSL's objects, freed when they go out of scope, and its errors in words.
#pragma once

#include <openssl/bio.h>
#include <openssl/conf.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace cqbench {

template <auto kFree>
struct FreeBy {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using BioPtr = std::unique_ptr<BIO, FreeBy<BIO_free>>;
using ConfPtr = std::unique_ptr<CONF, FreeBy<NCONF_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using SslPtr = std::unique_ptr<SSL, FreeBy<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using X509Ptr = std::unique_ptr<X509, FreeBy<X509_free>>;

// For reading; null when there is no memory.
BioPtr BioOf(const std::string& text);
// The next certificate of a PEM text; null at its end and where it is broken: LastTlsError() says which.
X509Ptr NextCertificate(BIO* pem);
// The key of a PEM text. Never asks for a passphrase.
KeyPtr KeyOf(const std::string& pem);

// Returns the thread's last error without OpenSSL's codes ("no start line"), and clears it.
std::string LastTlsError();

}  // namespace cqbench
