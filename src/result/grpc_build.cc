#include "src/result/grpc_build.h"

#include "absl/strings/str_cat.h"
#include "src/base/loaded_code.h"

namespace cqbench {

GrpcBuild DescribeGrpcBuild() {
  // Only a gRPC that was compiled without NDEBUG has the trace flag of this name. The name is put together so that it
  // is found in gRPC, if at all, and not in this function.
  return {IsLibraryLoaded("libgrpc.so") ? "shared" : "static", IsInLoadedCode(absl::StrCat("error_", "refcount"))};
}

std::string ToString(const GrpcBuild& build) {
  if (!build.assertions) return build.link;
  return absl::StrCat(build.link, *build.assertions ? ", with assertions" : ", without assertions");
}

}  // namespace cqbench
