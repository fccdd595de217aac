// Responses of a server's reflection service: if the client finds a method, it can call it with an empty message.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>

#include <memory>

#include "src/workload/dynamic/descriptors.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  google::protobuf::FileDescriptorSet set;
  if (!set.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto known = cqbench::Descriptors::FromFiles({set.file().begin(), set.file().end()});
  if (!known.ok()) return 0;
  for (const auto& file : set.file()) {
    for (const auto& service : file.service()) {
      for (const auto& rpc : service.method()) {
        const std::string package = file.package().empty() ? "" : file.package() + ".";
        const auto method = (*known)->Find({package + service.name(), rpc.name()});
        if (!method.ok()) continue;
        const std::unique_ptr<google::protobuf::Message> request((*known)->Prototype((*method)->input_type()).New());
        cqbench::fuzz::Require(request->ByteSizeLong() == 0, "an empty message is empty");
      }
    }
  }
  return 0;
}
