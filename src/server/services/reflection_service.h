// Server reflection (v1 and v1alpha) for tools that do not have the protos.
//
// Not the library's: there every stream holds a thread for as long as the client likes, and 3,000 streams were 3,000
// threads, in every kind of server. Here a few may be open, and the rest is refused.
#pragma once

#include <grpcpp/server_context.h>

#include <string>
#include <vector>

#include "cqbench/proto/server_reflection.grpc.pb.h"
#include "src/server/limits/call_limit.h"

namespace cqbench {

// Knows the descriptors of this program. Thread-safe. Synchronous: next to completion queues it waits on a queue that
// polls nothing, and costs nothing measurable.
class ReflectionService final : public grpc::Service {
 public:
  // `services` are the full names that it lists in addition to its own.
  explicit ReflectionService(std::vector<std::string> services);

 private:
  using Request = reflection::ReflectionRequest;
  using Response = reflection::ReflectionResponse;
  using Stream = grpc::ServerReaderWriter<Response, Request>;
  static constexpr int kMaxStreams = 16;

  grpc::Status Serve(Stream* stream);
  Response Answer(const Request& request) const;

  std::vector<std::string> services_;
  std::vector<std::string> paths_;
  CallLimit streams_{kMaxStreams};
};

}  // namespace cqbench
