// gRPC's credentials of both ends.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>

#include "src/config/security.h"

namespace cqbench {

// Once per run: channels share a connection only if they share the very object.
std::shared_ptr<grpc::ChannelCredentials> ClientCredentials(const Security& security);
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const Security& security);

// Sets the name that the server's certificate must be for, which credentials do not have.
void AddServerName(const Security& security, grpc::ChannelArguments& args);

}  // namespace cqbench
