// Server reflection and the standard health service, on which tools without our proto files rely, on every server API.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <csignal>

#include "cqbench/proto/health.grpc.pb.h"
#include "cqbench/proto/reflection.grpc.pb.h"
#include "tests/smoke/calls.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1alpha::ServerReflection;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

class DiscoveryTest : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<grpc::Channel> channel() const { return ChannelTo(SharedServer(GetParam()).address()); }

  // Asks one question on a stream of its own: within a stream, the library adds further responses to earlier ones.
  ServerReflectionResponse Ask(const ServerReflectionRequest& question) const {
    const auto stub = ServerReflection::NewStub(channel());
    const auto context = PatientContext();
    const auto stream = stub->ServerReflectionInfo(context.get());
    ServerReflectionResponse answer;
    EXPECT_TRUE(stream->Write(question));
    EXPECT_TRUE(stream->Read(&answer));
    stream->WritesDone();
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer;
  }
  grpc::Status Check(const std::string& service, HealthCheckResponse* response) const {
    HealthCheckRequest request;
    request.set_service(service);
    return Health::NewStub(channel())->Check(PatientContext().get(), request, response);
  }
};

TEST_P(DiscoveryTest, ReflectionListsTheServices) {
  ServerReflectionRequest request;
  request.set_list_services("*");
  std::vector<std::string> names;
  const ServerReflectionResponse answer = Ask(request);
  for (const auto& service : answer.list_services_response().service()) names.emplace_back(service.name());
  EXPECT_THAT(names, testing::IsSupersetOf({"Ydb.Debug.V1.DebugService", "cqbench.v1.EchoService", "MyService",
                                            "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}));
}

TEST_P(DiscoveryTest, ReflectionDescribesTheMethods) {
  for (const char* symbol : {"Ydb.Debug.V1.DebugService", "Ydb.Debug.V1.DebugService.PingStream"}) {
    ServerReflectionRequest request;
    request.set_file_containing_symbol(symbol);
    const ServerReflectionResponse answer = Ask(request);
    ASSERT_EQ(answer.file_descriptor_response().file_descriptor_proto_size(), 1) << symbol;
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(answer.file_descriptor_response().file_descriptor_proto(0))) << symbol;
    EXPECT_EQ(file.package(), "Ydb.Debug.V1");
    ASSERT_EQ(file.service_size(), 1);
    ASSERT_EQ(file.service(0).method_size(), 2);
    const auto& unary = file.service(0).method(0);
    EXPECT_EQ(unary.name(), "PingPlainGrpc");
    EXPECT_FALSE(unary.client_streaming() || unary.server_streaming());
    const auto& stream = file.service(0).method(1);
    EXPECT_EQ(stream.name(), "PingStream");
    EXPECT_TRUE(stream.client_streaming() && stream.server_streaming());
  }
}

// A service has all its methods, of every shape.
TEST_P(DiscoveryTest, ReflectionDescribesEveryShape) {
  ServerReflectionRequest request;
  request.set_file_containing_symbol("cqbench.v1.EchoService");
  const ServerReflectionResponse answer = Ask(request);
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(file.ParseFromString(answer.file_descriptor_response().file_descriptor_proto(0)));
  std::vector<std::string> shapes;
  for (const auto& method : file.service(0).method()) {
    shapes.push_back(method.name() + (method.client_streaming() ? " many" : " one") +
                     (method.server_streaming() ? " many" : " one"));
  }
  EXPECT_THAT(shapes,
              testing::ElementsAre("Echo one one", "EchoStream many many", "Upload many one", "Download one many"));
}

TEST_P(DiscoveryTest, ReflectionDoesNotKnowEverything) {
  ServerReflectionRequest request;
  request.set_file_containing_symbol("no.such.Service");
  EXPECT_EQ(Ask(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_P(DiscoveryTest, ServerAndServicesAreHealthy) {
  for (const char* service : {"", "Ydb.Debug.V1.DebugService", "cqbench.v1.EchoService"}) {
    HealthCheckResponse response;
    const grpc::Status status = Check(service, &response);
    EXPECT_TRUE(status.ok()) << "'" << service << "': " << status.error_message();
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << "'" << service << "'";
  }
}

TEST_P(DiscoveryTest, UnknownServiceIsNotFound) {
  HealthCheckResponse response;
  EXPECT_EQ(Check("no.such.Service", &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_P(DiscoveryTest, WatchEndsWithTheServer) {
  Server server({"--api", GetParam(), "--drain", "300ms"});
  const auto context = PatientContext();
  HealthCheckRequest request;
  HealthCheckResponse response;
  const auto watch = Health::NewStub(ChannelTo(server.address()))->Watch(context.get(), request);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  const Served served = server.Stop(SIGTERM);
  EXPECT_EQ(served.calls, 0u);  // health probes do not count as calls
  while (watch->Read(&response)) {
  }
  EXPECT_NE(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  EXPECT_NE(watch->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

// The server responds to a probe while it is busy, too.
TEST_P(DiscoveryTest, HealthyUnderLoad) {
  Process client(ClientCommand(
      {"--host", SharedServer(GetParam()).address(), "--inflight", "16", "--warmup", "1ms", "--interval", "600ms"}));
  for (int i = 0; i < 20; ++i) {
    HealthCheckResponse response;
    const grpc::Status status = Check("", &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  }
  EXPECT_EQ(Finish(client).exit_code, 0) << client.err();
}

INSTANTIATE_TEST_SUITE_P(All, DiscoveryTest, testing::ValuesIn(kServerApis), ServerName);

}  // namespace
}  // namespace cqbench::smoke
