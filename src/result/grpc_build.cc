#include "src/result/grpc_build.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "src/base/loaded_code.h"

namespace cqbench {

GrpcBuild DescribeGrpcBuild() {
  // Only a gRPC that was compiled without NDEBUG has the trace flag of this name. Any gRPC has a symbol that ends with
  // it, so a zero byte is before the name. The name is put together so that it is found in gRPC, if at all, and not in
  // this function.
  const std::string flag = absl::StrCat(absl::string_view("\0error_", 7), "refcount");
  return {IsLibraryLoaded("libgrpc.so") ? "shared" : "static", IsInLoadedCode(flag)};
}

std::string ToString(const GrpcBuild& build) {
  if (!build.assertions) return build.link;
  return absl::StrCat(build.link, *build.assertions ? ", with assertions" : ", without assertions");
}

}  // namespace cqbench
