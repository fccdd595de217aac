#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "src/base/loaded_code.h"
#include "src/cli/flags/flags.h"
#include "src/observe/sampling/environment.h"
#include "src/result/grpc_build.h"

namespace cqbench {

std::string GrpcVersion() {
  return grpc::Version();
}

bool PollsByItself() {
  int major = 0, minor = 0;
  if (std::sscanf(grpc::Version().c_str(), "%d.%d", &major, &minor) != 2) return false;
  const char* experiments = std::getenv("GRPC_EXPERIMENTS");
  return std::pair(major, minor) >= std::pair(1, 83) &&
         !(experiments && absl::StrContains(experiments, "-event_engine_client"));
}

std::string ProtobufVersion() {
  return absl::StrCat(GOOGLE_PROTOBUF_VERSION / 1'000'000, ".", GOOGLE_PROTOBUF_VERSION / 1'000 % 1'000, ".",
                      GOOGLE_PROTOBUF_VERSION % 1'000);
}

void QuietLibraries() {
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
#if GOOGLE_PROTOBUF_VERSION < 4'022'000  // newer ones log as gRPC does
  google::protobuf::SetLogHandler(nullptr);
#endif
}

void SetDeadlockDetection(bool on) {
  if (!on) absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

void WarnOfUnknownChannelArgs(const std::string& program, const std::vector<ChannelArg>& args) {
  for (const ChannelArg& arg : args) {
    if (IsInLoadedCode(arg.key).value_or(true)) continue;
    std::fprintf(stderr, "%s: --channel-arg: gRPC %s knows no argument '%s' and ignores it\n", program.c_str(),
                 GrpcVersion().c_str(), arg.key.c_str());
  }
}

std::string VersionLine(const std::string& program) {
  return absl::StrCat(program, " ", CQBENCH_VERSION, " (gRPC ", GrpcVersion(), ": ", ToString(DescribeGrpcBuild()),
                      "; protobuf ", ProtobufVersion(), "; ", Compiler(), ")");
}

}  // namespace cqbench
