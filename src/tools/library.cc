#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "src/tools/flags.h"

namespace cqbench {

std::string GrpcVersion() {
  return grpc::Version();
}

std::string ProtobufVersion() {
  return absl::StrCat(GOOGLE_PROTOBUF_VERSION / 1'000'000, ".", GOOGLE_PROTOBUF_VERSION / 1'000 % 1'000, ".",
                      GOOGLE_PROTOBUF_VERSION % 1'000);
}

void SetDeadlockDetection(bool on) {
  if (!on) absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

std::string VersionLine(const std::string& program) {
  return absl::StrCat(program, " ", CQBENCH_VERSION, " (gRPC ", GrpcVersion(), ", protobuf ", ProtobufVersion(), ")");
}

}  // namespace cqbench
