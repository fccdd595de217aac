// --service-config: the library makes a channel with every accepted configuration.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "src/cli/client/service_config.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(cqbench::fuzz::Text(data, size));
  if (size > 0 && text.front() == '@') return -1;  // the fuzzer must not read files of this machine
  const auto config = cqbench::ReadServiceConfig(text);
  if (!config.ok()) return 0;
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(*config);
  const auto channel = grpc::CreateCustomChannel("unix:/nobody", grpc::InsecureChannelCredentials(), arguments);
  cqbench::fuzz::Require(channel != nullptr, "there is a channel");
  return 0;
}
