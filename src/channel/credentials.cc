#include "src/channel/credentials.h"

namespace cqbench {

// Uses gRPC's plain SSL credentials: its TlsCredentials are experimental and change from release to release. Their
// additional features (certificates that change while a process runs) are useless for a run.
std::shared_ptr<grpc::ChannelCredentials> ClientCredentials(const Security& security) {
  if (!security.tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({security.ca.pem, security.key.pem, security.certificate.pem});
}

std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const Security& security) {
  if (!security.tls) return grpc::InsecureServerCredentials();
  const bool mutual = !security.ca.name.empty();
  grpc::SslServerCredentialsOptions options(mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                   : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  options.pem_root_certs = security.ca.pem;
  options.pem_key_cert_pairs = {{security.key.pem, security.certificate.pem}};
  return grpc::SslServerCredentials(options);
}

void AddServerName(const Security& security, grpc::ChannelArguments& args) {
  if (!security.server_name.empty()) args.SetSslTargetNameOverride(security.server_name);
}

}  // namespace cqbench
