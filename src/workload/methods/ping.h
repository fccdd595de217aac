// The empty ping of YDB's DebugService. See method.h for what a method is.
#pragma once

#include <chrono>

#include "cqbench/proto/ping.grpc.pb.h"
#include "src/workload/messages/wire.h"
#include "src/workload/methods/method.h"

namespace cqbench {

struct PingMessages {
  using Request = Ydb::Debug::V1::PlainGrpcRequest;
  using Response = Ydb::Debug::V1::PlainGrpcResponse;
  static constexpr char kWorkload[] = "ping";
  static constexpr bool kHasPayload = false;

  // Any message is right: YDB's own benchmark server leaves the time out.
  static void Fill(Request& /*request*/, const MessageConfig& /*config*/) {}
  static absl::string_view Check(const Response& /*response*/, const MessageConfig& /*config*/) { return {}; }
  static absl::string_view CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& /*config*/) {
    uint64_t time = 0;
    return wire::FindVarint(response, 1, &time) ? absl::string_view() : "the response is not a PlainGrpcResponse";
  }

  static grpc::Status Handle(const Request& /*request*/, Response* response) {
    response->set_callbackts(WallClockMicros());
    return grpc::Status::OK;
  }
  static grpc::Status HandleBytes(const grpc::ByteBuffer& /*request*/, grpc::ByteBuffer* response) {
    *response = wire::VarintField(1, WallClockMicros());
    return grpc::Status::OK;
  }

 private:
  static uint64_t WallClockMicros() {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
  }
};

struct PingUnary : PingMessages {
  static constexpr char kName[] = "unary";
  CQBENCH_UNARY(Ydb::Debug::V1::DebugService, PingPlainGrpc);
};

struct PingStreaming : PingMessages {
  static constexpr char kName[] = "streaming";
  CQBENCH_BIDI(Ydb::Debug::V1::DebugService, PingStream);
};

}  // namespace cqbench
