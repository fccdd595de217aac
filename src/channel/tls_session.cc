#include "src/channel/tls_session.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <iterator>

namespace cqbench {
namespace {

constexpr unsigned char kHttp2[] = {2, 'h', '2'};

bool IsAddress(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

SslContextPtr MakeContext(const Security& security) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));  // with the limits of the process
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (const char* ciphers = std::getenv("GRPC_SSL_CIPHER_SUITES")) SSL_CTX_set_cipher_list(context.get(), ciphers);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, std::size(kHttp2));
  if (security.ca.name.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else {
    const BioPtr pem = BioOf(security.ca.pem);
    while (const X509Ptr ca = NextCertificate(pem.get())) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), ca.get());
    }
  }
  if (!security.certificate.name.empty()) {
    const BioPtr pem = BioOf(security.certificate.pem);
    SSL_CTX_use_certificate(context.get(), NextCertificate(pem.get()).get());
    while (X509Ptr between = NextCertificate(pem.get())) SSL_CTX_add0_chain_cert(context.get(), between.release());
    SSL_CTX_use_PrivateKey(context.get(), KeyOf(security.key.pem).get());
  }
  ERR_clear_error();
  return context;
}

}  // namespace

std::string ServerNameOf(const Target& target, const Security& security) {
  if (!security.server_name.empty()) return security.server_name;
  return target.is_unix() ? "localhost" : target.host;
}

TlsSession::TlsSession(const Security& security, const std::string& server_name, int fd)
    : fd_(fd), context_(MakeContext(security)), ssl_(SSL_new(context_.get())) {
  SSL_set_fd(ssl(), fd);
  SSL_set_msg_callback(ssl(), nullptr);  // the handshakes that are remembered are gRPC's (handshakes.cc)
  if (IsAddress(server_name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl()), server_name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl(), server_name.c_str());
    SSL_set1_host(ssl(), server_name.c_str());
  }
}

}  // namespace cqbench
