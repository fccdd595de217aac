// Streams of chunks between every client API and every server API, as messages and as bytes; and the servers' responses
// to invalid requests.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cqbench/proto/myservice.grpc.pb.h"
#include "tests/smoke/calls.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

class BlobTest : public testing::TestWithParam<std::string> {
 protected:
  BlobTest() { context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(50)); }
  std::shared_ptr<grpc::Channel> channel() const { return ChannelTo(SharedServer(GetParam()).address()); }
  BytesCall Send(const std::string& path, const std::string& bytes) const {
    return CallWithBytes(channel(), path, bytes);
  }

  grpc::ClientContext context_;
};

TEST_P(BlobTest, EveryClientApiMovesChunksBothWays) {
  for (const std::string& api : kClientApis) {
    for (const std::string method : {"put", "get"}) {
      for (const std::string messages : {"fresh", "bytes"}) {
        SCOPED_TRACE(api + ", " + method + ", " + messages);
        const Json point =
            RunClient(Flags{"--host", SharedServer(GetParam()).address(), "--workload", "blob", "--method", method,
                            "--api", api, "--messages", messages, "--chunks", "5", "--chunk-bytes", "20000"} +
                      Flags{"--payload", "random", "--inflight", "2", "--warmup", "1ms", "--total", "50", "--interval",
                            "50", "--deadline", "50", "--format", "json"})
                .CleanPoint();
        EXPECT_GE(point.at("completed"), 50);
      }
    }
  }
}

// A client that sends the talk's empty request gets the talk's response.
TEST_P(BlobTest, AnEmptyRequestGetsTheTalksBlob) {
  const auto stub = MyService::NewStub(channel());
  const auto reader = stub->Get(&context_, GetRequest());
  int chunks = 0;
  for (Chunk chunk; reader->Read(&chunk); ++chunks) ASSERT_EQ(chunk.data().size(), 16u << 10);
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(chunks, 1024);
}

TEST_P(BlobTest, ChunksOfAnySizeAreCounted) {
  const auto stub = MyService::NewStub(channel());
  PutResult result;
  const auto writer = stub->Put(&context_, &result);
  Chunk chunk;
  for (size_t size : {0, 1, 3'000'000}) {
    chunk.set_data(std::string(size, 'x'));
    ASSERT_TRUE(writer->Write(chunk));
  }
  writer->WritesDone();
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_EQ(result.chunks(), 3u);
  EXPECT_EQ(result.bytes(), 3'000'001u);
}

TEST_P(BlobTest, TooMuchIsRefused) {
  GetRequest request;
  request.set_chunks(1'000'001);
  EXPECT_EQ(Send("/MyService/Get", request.SerializeAsString()).status.error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}
TEST_P(BlobTest, TooLargeIsRefused) {
  GetRequest request;
  request.set_chunk_bytes((64 << 20) + 1);
  EXPECT_EQ(Send("/MyService/Get", request.SerializeAsString()).status.error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

// Only the generic server parses by itself. In a stream the library reports a message that it cannot parse as a failed
// read, which is also the end of a stream. The count in the response then lacks the chunk, and our client checks the
// count.
TEST_P(BlobTest, AChunkThatIsCutOffIsNotCounted) {
  Chunk chunk;
  chunk.set_data("data");
  const std::string whole = chunk.SerializeAsString();
  const auto [status, answers] = Send("/MyService/Put", whole.substr(0, whole.size() - 1));
  if (GetParam() == "generic") {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  if (!status.ok()) return;
  ASSERT_EQ(answers.size(), 1u);
  grpc::Slice answer;
  ASSERT_TRUE(answers[0].DumpToSingleSlice(&answer).ok());
  PutResult result;
  ASSERT_TRUE(result.ParseFromArray(answer.begin(), static_cast<int>(answer.size())));
  EXPECT_EQ(result.chunks(), 0u);
}
// The library refuses bytes that are no unary request.
TEST_P(BlobTest, ARequestThatIsNoneIsRefused) {
  const grpc::Status status = Send("/MyService/Get", "\x0f\xff\xff").status;
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

Flags Moving(const Server& server, const std::string& method) {
  return {"--host", server.address(), "--workload", "blob",     "--method", method, "--chunks",
          "9",      "--chunk-bytes",  "9000",       "--format", "json"};
}

// All messages arrive, even if the hint lets the library hold them back.
TEST(WriteHints, OfTheClientMoveEverything) {
  for (const std::string& api : kClientApis) {
    for (const std::string hint : {"buffer", "corked"}) {
      for (const std::string stub : {"generated", "generic"}) {
        SCOPED_TRACE(api + ", " + hint + ", " + stub);
        const ClientRun run =
            RunClient(Moving(SharedServer("cq"), "put") +
                      Flags{"--api", api, "--write-hint", hint, "--stub", stub, "--inflight", "2"} +
                      Flags{"--warmup", "1ms", "--total", "100", "--interval", "50", "--deadline", "50"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_EQ(run.Parsed().at("context").at("write_hint"), hint);
        ExpectClean(run.Point());
      }
    }
  }
}

TEST(WriteHints, OfTheServerMoveEverything) {
  for (const std::string& api : kServerApis) {
    SCOPED_TRACE(api);
    const Server server({"--api", api, "--write-hint", "buffer"});
    const ClientRun run = RunClient(Moving(server, "get") + Flags{"--inflight", "2", "--warmup", "1ms", "--total",
                                                                  "100", "--interval", "50", "--deadline", "50"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.Parsed().at("context").at("servers").at(0).at("write_hint"), "buffer");
    ExpectClean(run.Point());
  }
}

// The number of finished streams depends on the machine; the presence of figures and lower bounds does not.
TEST(Streams, HaveFiguresOfTheirOwnAndTheirLowerBound) {
  const Server server({"--tcp-echo-port", "0"});
  const ClientRun run =
      RunClient(Moving(server, "get") + Flags{"--api", "cq", "--inflight", "1", "--lower-bound"} + Short());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json point = run.Point();
  for (const char* figure : {"chunks_per_second", "payload_bytes_per_second", "chunk_gap_p50_ns"}) {
    EXPECT_TRUE(point.contains(figure)) << figure << "\n" << point;
  }
  const Json result = run.Parsed();
  std::vector<std::string> names;
  for (const Json& bound : result.at("lower_bounds")) {
    names.push_back(bound.at("name"));
    EXPECT_TRUE(bound.contains("payload_bytes_per_second")) << bound;
    EXPECT_TRUE(bound.contains("client_cores_per_gbit_per_second")) << bound;
  }
  EXPECT_THAT(names, testing::ElementsAre("grpc", "tcp-block", "tcp-sendfile", "grpc-inproc"));
}

INSTANTIATE_TEST_SUITE_P(All, BlobTest, testing::ValuesIn(kServerApis), ServerName);

}  // namespace
}  // namespace cqbench::smoke
