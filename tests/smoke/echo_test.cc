// Payloads of every size class through every server API, and the limits of the echo workload.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "cqbench/proto/echo.grpc.pb.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

constexpr uint32_t kSizes[] = {0, 1, 1000, 100000};
constexpr uint32_t kMaxBytes = 64u << 20;

class EchoTest : public testing::TestWithParam<std::string> {
 protected:
  const std::string& address() const { return SharedServer(GetParam()).address(); }
  std::unique_ptr<v1::EchoService::Stub> Stub() const { return v1::EchoService::NewStub(ChannelTo(address())); }
  static v1::EchoRequest Request(uint32_t request_bytes, uint32_t response_bytes) {
    v1::EchoRequest request;
    request.set_payload(std::string(request_bytes, 'x'));
    request.set_response_bytes(response_bytes);
    return request;
  }
};

std::unique_ptr<grpc::ClientContext> Context() {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::seconds>(kPatience));
  return context;
}

TEST_P(EchoTest, UnaryAnswersHaveTheSizeAskedFor) {
  const auto stub = Stub();
  for (uint32_t request_bytes : kSizes) {
    for (uint32_t response_bytes : kSizes) {
      v1::EchoResponse response;
      const grpc::Status status = stub->Echo(Context().get(), Request(request_bytes, response_bytes), &response);
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(response.payload().size(), response_bytes) << "to a request of " << request_bytes;
    }
  }
}

// Sizes go up and down on one stream: what a server recycles must not show.
TEST_P(EchoTest, StreamedAnswersHaveTheSizeAskedFor) {
  const auto stub = Stub();
  const auto context = Context();
  const auto stream = stub->EchoStream(context.get());
  for (uint32_t bytes : {0u, 100000u, 1u, 1000u, 0u}) {
    v1::EchoResponse response;
    ASSERT_TRUE(stream->Write(Request(bytes, bytes)));
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.payload().size(), bytes);
  }
  EXPECT_TRUE(stream->WritesDone());
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_P(EchoTest, MoreThanTheLimitIsRefused) {
  const auto stub = Stub();
  v1::EchoResponse response;
  EXPECT_EQ(stub->Echo(Context().get(), Request(10, kMaxBytes + 1), &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);

  const auto context = Context();
  const auto stream = stub->EchoStream(context.get());
  ASSERT_TRUE(stream->Write(Request(10, kMaxBytes + 1)));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// gRPC's own limit is 4 MiB.
TEST_P(EchoTest, FiveMebibytesPass) {
  for (const char* mode : {"", "--streaming"}) {
    Flags flags = {"--host",           address(), "--workload", "echo", "--request-bytes", "5242880",
                   "--response-bytes", "5242880", "--inflight", "1",    "--warmup",        "1ms",
                   "--interval",       "500ms",   "--deadline", "60",   "--format",        "json"};
    if (*mode != '\0') flags.emplace_back(mode);
    const ClientRun run = RunClient(flags);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json point = run.Point();
    ASSERT_TRUE(point.is_object());
    EXPECT_EQ(point.at("failed"), 0) << point;
    // Slow machines may not get one done inside the window; its latency is kept all the same.
    EXPECT_GT(point.at("latency_samples"), 0) << point;
  }
}

TEST_P(EchoTest, EveryClientApiCarriesPayloads) {
  for (const std::string& api : kClientApis) {
    for (const bool streaming : {false, true}) {
      SCOPED_TRACE(api + (streaming ? ", streaming" : ", unary"));
      Flags flags = {"--host",          address(), "--workload",       "echo",   "--api",    api,   "--inflight", "3",
                     "--request-bytes", "1000",    "--response-bytes", "100000", "--format", "json"};
      if (streaming) flags.emplace_back("--streaming");
      const ClientRun run = RunClient(flags + Short());
      EXPECT_EQ(run.exit_code, 0) << run.err;
      ExpectClean(run.Point());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EchoTest, testing::ValuesIn(kServerApis), ServerName);

}  // namespace
}  // namespace cqbench::smoke
