// Every shape of RPC with every server, and with each message strategy of the server: right responses, right status,
// and counts that add up.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "cqbench/proto/control.grpc.pb.h"
#include "cqbench/proto/echo.grpc.pb.h"
#include "src/workload/messages/payload.h"
#include "tests/smoke/calls.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

using v1::EchoRequest;
using v1::EchoResponse;
using v1::EchoService;

constexpr uint32_t kMaxBytes = 64u << 20;
constexpr uint64_t kServerSeed = 1;

struct Setting {
  std::string api;
  std::string messages;
  std::string codec = "protobuf";
};
const std::vector<Setting> kTestedSettings = {
    {"cq", "fresh"},        {"cq", "reused"},      {"cq", "arena"},      {"callback", "fresh"},
    {"callback", "reused"}, {"callback", "arena"}, {"sync", "fresh"},    {"sync", "reused"},
    {"sync", "arena"},      {"generic", "bytes"},  {"generic", "fresh"}, {"generic", "arena", "buffer-reusing"},
};
std::string SettingName(const testing::TestParamInfo<Setting>& tested) {
  return tested.param.api + "Server_" + tested.param.messages +
         (tested.param.codec == "buffer-reusing" ? "_reusing" : "");
}

std::string PayloadBytes(v1::Payload kind, size_t size) {
  const PayloadKind kinds[] = {PayloadKind::kZero, PayloadKind::kText, PayloadKind::kRandom};
  std::string payload;
  PayloadOf(kinds[kind], kServerSeed).Fill(&payload, size);
  return payload;
}

EchoRequest Request(uint32_t request_bytes, uint32_t response_bytes, v1::Payload kind = v1::ZERO) {
  EchoRequest request;
  request.set_payload(std::string(request_bytes, 'x'));
  request.set_response_bytes(response_bytes);
  request.set_response_payload(kind);
  return request;
}

// Requests of one call in this order: the same size of another kind, smaller and larger ones.
struct Asked {
  uint32_t bytes;
  v1::Payload kind;
};
constexpr Asked kAsked[] = {{100, v1::ZERO}, {100, v1::TEXT},       {100, v1::RANDOM},
                            {1, v1::TEXT},   {0, v1::RANDOM},       {70'000, v1::TEXT},
                            {7, v1::ZERO},   {200'000, v1::RANDOM}, {200'000, v1::ZERO}};

class ShapesTest : public testing::TestWithParam<Setting> {
 protected:
  Server& server(const Flags& more = {}) {
    if (!server_) {
      const Flags codec = GetParam().codec == "buffer-reusing" ? Flags{"--serializer", "buffer-reusing"} : Flags{};
      server_ = std::make_unique<Server>(
          Flags{"--api", GetParam().api, "--messages", GetParam().messages, "--drain", "300ms"} + codec + more);
      channel_ = ChannelTo(server_->address());
      stub_ = EchoService::NewStub(channel_);
    }
    return *server_;
  }
  EchoService::Stub& stub() {
    server();
    return *stub_;
  }
  std::shared_ptr<grpc::Channel> channel() {
    server();
    return channel_;
  }
  Served Stop() {
    channel_.reset();
    stub_.reset();
    return server().Stop(SIGTERM);
  }

  grpc::Status Unary(const EchoRequest& request, EchoResponse* response) {
    return stub().Echo(PatientContext().get(), request, response);
  }
  grpc::Status Upload(const std::vector<EchoRequest>& requests, EchoResponse* response) {
    const auto context = PatientContext();
    const auto writer = stub().Upload(context.get(), response);
    for (const EchoRequest& request : requests) {
      if (!writer->Write(request)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }
  grpc::Status Download(EchoRequest request, uint32_t responses, std::vector<EchoResponse>* into) {
    request.set_responses(responses);
    const auto context = PatientContext();
    const auto reader = stub().Download(context.get(), request);
    EchoResponse response;
    while (reader->Read(&response)) into->push_back(response);
    return reader->Finish();
  }
  // Sends one request after the other and reads a response for each.
  grpc::Status Bidi(const std::vector<EchoRequest>& requests, std::vector<EchoResponse>* into) {
    const auto context = PatientContext();
    const auto stream = stub().EchoStream(context.get());
    EchoResponse response;
    for (const EchoRequest& request : requests) {
      if (!stream->Write(request) || !stream->Read(&response)) return stream->Finish();
      into->push_back(response);
    }
    stream->WritesDone();
    return stream->Finish();
  }

 private:
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<EchoService::Stub> stub_;
};

TEST_P(ShapesTest, UnaryAnswersAreWhatWasAskedFor) {
  for (const Asked& asked : kAsked) {
    EchoResponse response;
    const grpc::Status status = Unary(Request(asked.bytes, asked.bytes, asked.kind), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(response.payload() == PayloadBytes(asked.kind, asked.bytes)) << asked.bytes << " " << asked.kind;
    EXPECT_EQ(response.requests(), 0u);
  }
}

TEST_P(ShapesTest, BidiAnswersAreWhatWasAskedFor) {
  std::vector<EchoRequest> requests;
  for (const Asked& asked : kAsked) requests.push_back(Request(asked.bytes, asked.bytes, asked.kind));
  std::vector<EchoResponse> responses;
  const grpc::Status status = Bidi(requests, &responses);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(responses.size(), std::size(kAsked));
  for (size_t i = 0; i < responses.size(); ++i) {
    EXPECT_TRUE(responses[i].payload() == PayloadBytes(kAsked[i].kind, kAsked[i].bytes)) << i;
  }
}

TEST_P(ShapesTest, UploadsAreCountedAndAnsweredAsTheLastRequestAsks) {
  for (size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{16}, size_t{300}}) {
    for (const Asked& asked : {kAsked[1], kAsked[2], kAsked[4]}) {
      std::vector<EchoRequest> requests(count, Request(1000, 5, v1::ZERO));
      if (count > 0) requests.back() = Request(0, asked.bytes, asked.kind);
      EchoResponse response;
      const grpc::Status status = Upload(requests, &response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(response.requests(), count);
      EXPECT_EQ(response.payload(), count > 0 ? PayloadBytes(asked.kind, asked.bytes) : "");
    }
  }
}

TEST_P(ShapesTest, DownloadsHaveAsManyAnswersAsWereAskedFor) {
  for (uint32_t count : {0u, 1u, 2u, 16u, 300u}) {
    for (const Asked& asked : {kAsked[1], kAsked[2], kAsked[4]}) {
      std::vector<EchoResponse> responses;
      const grpc::Status status = Download(Request(20, asked.bytes, asked.kind), count, &responses);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(responses.size(), count);
      for (const EchoResponse& response : responses) {
        EXPECT_EQ(response.payload(), PayloadBytes(asked.kind, asked.bytes));
      }
    }
  }
}

TEST_P(ShapesTest, CountsAddUp) {
  EchoResponse response;
  std::vector<EchoResponse> responses;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Unary(Request(1, 1), &response).ok());
  EXPECT_TRUE(Upload(std::vector<EchoRequest>(4, Request(1, 1)), &response).ok());
  EXPECT_TRUE(Upload({}, &response).ok());
  EXPECT_TRUE(Download(Request(1, 1), 7, &responses).ok());
  EXPECT_TRUE(Download(Request(1, 1), 0, &responses).ok());
  EXPECT_TRUE(Bidi(std::vector<EchoRequest>(3, Request(1, 1)), &responses).ok());
  const Served served = Stop();
  EXPECT_EQ(served.calls, 5u + 2 + 2 + 1);
  EXPECT_EQ(served.ok, served.calls);
  EXPECT_EQ(served.failed, 0u);
  EXPECT_EQ(served.messages, 5u + (1 + 1) + (7 + 0) + 3);
}

TEST_P(ShapesTest, TooMuchIsRefused) {
  constexpr auto kRefused = grpc::StatusCode::INVALID_ARGUMENT;
  EchoResponse response;
  std::vector<EchoResponse> responses;
  EXPECT_EQ(Unary(Request(1, kMaxBytes + 1), &response).error_code(), kRefused);
  EXPECT_EQ(Bidi({Request(1, 1), Request(1, kMaxBytes + 1), Request(1, 1)}, &responses).error_code(), kRefused);
  EXPECT_EQ(responses.size(), 1u);
  EXPECT_EQ(Upload({Request(1, 1), Request(1, kMaxBytes + 1), Request(1, 1)}, &response).error_code(), kRefused);
  responses.clear();
  EXPECT_EQ(Download(Request(1, kMaxBytes + 1), 3, &responses).error_code(), kRefused);
  EXPECT_EQ(Download(Request(1, 1), 1'000'001, &responses).error_code(), kRefused);
  EXPECT_TRUE(responses.empty());
  EXPECT_TRUE(Unary(Request(1, 1), &response).ok()) << "the server goes on";
  const Served served = Stop();
  EXPECT_EQ(served.calls, 6u);
  EXPECT_EQ(served.ok, 1u);
  EXPECT_EQ(served.failed, 5u);
  EXPECT_EQ(served.messages, 2u) << "of the stream, and of the last call";
}

TEST_P(ShapesTest, UploadThatIsBrokenOffIsNotOk) {
  const auto context = PatientContext();
  EchoResponse response;
  const auto writer = stub().Upload(context.get(), &response);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->Write(Request(1000, 10)));
  context->TryCancel();
  EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Unary(Request(1, 1), &response).ok()) << "the server goes on";
  const Served served = Stop();
  EXPECT_EQ(served.ok, 1u);
  EXPECT_EQ(served.failed, served.calls - 1);
  EXPECT_LE(served.calls, 2u) << "the first may not have come to the server";
}

TEST_P(ShapesTest, DownloadThatIsCancelledEnds) {
  const auto context = PatientContext();
  EchoRequest request = Request(1, 1000);
  request.set_responses(1'000'000);
  const auto reader = stub().Download(context.get(), request);
  EchoResponse response;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader->Read(&response));
  context->TryCancel();
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Unary(Request(1, 1), &response).ok()) << "the server goes on";
  const Served served = Stop();
  EXPECT_EQ(served.calls, 2u);
  EXPECT_EQ(served.ok, 1u);
  EXPECT_EQ(served.failed, 1u);
  EXPECT_GE(served.messages, 3u + 1);
  EXPECT_LT(served.messages, 1'000'000u);
}

// The service time applies to each request of unary, bidi and client-streaming calls, and to each response of
// server-streaming ones.
TEST_P(ShapesTest, ServiceTimeIsSpentOncePerMessage) {
  constexpr Seconds kEach{0.05};
  constexpr int kMessages = 4;
  server({"--service-time", "50ms", "--service-time-mode", "wait"});
  const std::vector<EchoRequest> requests(kMessages, Request(1, 1));
  const auto took = [&](auto call) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(call());
    return Seconds(std::chrono::steady_clock::now() - begin);
  };
  // Takes the best of twenty, because other processes can only make the time longer. Where they take 200 ms from every
  // second measurement, that is a false alarm in a million.
  const auto expect = [&](const char* shape, auto call) {
    Seconds best = kPatience;
    for (int i = 0; i < 20 && best >= 2 * kMessages * kEach; ++i) best = std::min(best, took(call));
    EXPECT_GE(best, kMessages * kEach) << shape;
    EXPECT_LT(best, 2 * kMessages * kEach) << shape;
  };
  EchoResponse response;
  std::vector<EchoResponse> responses;
  expect("upload", [&] { return Upload(requests, &response).ok(); });
  expect("download", [&] { return Download(Request(1, 1), kMessages, &responses).ok(); });
  expect("bidi", [&] { return Bidi(requests, &responses).ok(); });
  expect("unary", [&] {
    return std::all_of(requests.begin(), requests.end(), [&](const auto& r) { return Unary(r, &response).ok(); });
  });
}

TEST_P(ShapesTest, ManyCallsAtOnce) {
  constexpr int kCalls = 200;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientWriter<EchoRequest>>> uploads;
  std::vector<std::unique_ptr<grpc::ClientReader<EchoResponse>>> downloads;
  std::vector<EchoResponse> answers(kCalls);
  for (size_t i = 0; i < kCalls; ++i) {
    uploads.push_back(stub().Upload(contexts.emplace_back(PatientContext()).get(), &answers[i]));
    EchoRequest request = Request(1, 10);
    request.set_responses(static_cast<uint32_t>(i % 5));
    downloads.push_back(stub().Download(contexts.emplace_back(PatientContext()).get(), request));
  }
  uint64_t responses = 0;
  for (size_t i = 0; i < kCalls; ++i) {
    for (size_t n = 0; n < i % 3; ++n) EXPECT_TRUE(uploads[i]->Write(Request(100, static_cast<uint32_t>(i))));
    uploads[i]->WritesDone();
    EXPECT_TRUE(uploads[i]->Finish().ok());
    EXPECT_EQ(answers[i].requests(), i % 3);
    EXPECT_EQ(answers[i].payload().size(), i % 3 == 0 ? 0 : i);
    EchoResponse response;
    while (downloads[i]->Read(&response)) ++responses;
    EXPECT_TRUE(downloads[i]->Finish().ok());
  }
  EXPECT_EQ(responses, kCalls / 5 * (0u + 1 + 2 + 3 + 4));
  const Served served = Stop();
  EXPECT_EQ(served.calls, 2u * kCalls);
  EXPECT_EQ(served.ok, 2u * kCalls);
  EXPECT_EQ(served.messages, kCalls + responses);
}

// A download in flight and an upload that waits do not delay a shutdown.
TEST_P(ShapesTest, CallsUnderWayAreCutOffAtTheEnd) {
  const auto upload_context = PatientContext(), download_context = PatientContext();
  EchoResponse answer, response;
  const auto upload = stub().Upload(upload_context.get(), &answer);
  ASSERT_TRUE(upload->Write(Request(1, 1)));
  EchoRequest request = Request(1, 1000);
  request.set_responses(1'000'000);
  const auto download = stub().Download(download_context.get(), request);
  ASSERT_TRUE(download->Read(&response));  // reads one response only: the download waits for flow control
  EXPECT_TRUE(Unary(Request(1, 1), &response).ok());
  // A thread must wait on the connection; otherwise the library polls it every five seconds only.
  std::thread waits([&] { EXPECT_FALSE(upload->Finish().ok()); });
  const Served served = server().Stop(SIGTERM);
  waits.join();
  EXPECT_EQ(served.ok, 1u);
  EXPECT_EQ(served.ok + served.failed, served.calls);
  while (download->Read(&response)) {
  }
  EXPECT_FALSE(download->Finish().ok());
}

TEST_P(ShapesTest, TheDescriptionSaysHowMessagesLive) {
  control::v1::ServerDescription description;
  ASSERT_TRUE(control::v1::Control::NewStub(channel())->Describe(PatientContext().get(), {}, &description).ok());
  EXPECT_EQ(description.api(), GetParam().api);
  EXPECT_EQ(description.messages(), GetParam().messages);
  EXPECT_EQ(description.has_serializer() ? description.serializer() : "protobuf", GetParam().codec);
  const bool by_library = GetParam().api == "sync" || GetParam().api == "callback";
  const bool forced = by_library && GetParam().messages != "fresh";
  EXPECT_EQ(description.messages_note().empty(), !forced) << description.messages_note();
}

INSTANTIATE_TEST_SUITE_P(All, ShapesTest, testing::ValuesIn(kTestedSettings), SettingName);

}  // namespace
}  // namespace cqbench::smoke
