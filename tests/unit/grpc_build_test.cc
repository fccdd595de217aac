#include "src/result/grpc_build.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <optional>

namespace cqbench {
namespace {

TEST(GrpcBuild, IsThatOfThisProgram) {
  ASSERT_FALSE(grpc::Version().empty());  // so that this program has gRPC
  const GrpcBuild build = DescribeGrpcBuild();
  EXPECT_EQ(build.link, CQBENCH_LINKED);
  EXPECT_NE(build.assertions, std::nullopt);
}

TEST(GrpcBuild, InWords) {
  EXPECT_EQ(ToString(GrpcBuild{"static", true}), "static, with assertions");
  EXPECT_EQ(ToString(GrpcBuild{"shared", false}), "shared, without assertions");
  EXPECT_EQ(ToString(GrpcBuild{"shared", std::nullopt}), "shared");
  EXPECT_EQ(ToString(GrpcBuild{}), "");
}

}  // namespace
}  // namespace cqbench
