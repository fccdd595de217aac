// The empty ping of YDB's DebugService, as a workload. A workload is a struct of static functions; engines and servers
// are templates over it, so a new one is a proto and a file like this, listed in workloads.h.
#pragma once

#include <chrono>

#include "cqbench/proto/ping.grpc.pb.h"
#include "cqbench/run_config.h"
#include "src/workload/service_methods.h"
#include "src/workload/wire.h"

namespace cqbench {

CQBENCH_SERVICE_METHODS(PingMethods, Ydb::Debug::V1::DebugService, Ydb::Debug::V1::PlainGrpcRequest,
                        Ydb::Debug::V1::PlainGrpcResponse, PingPlainGrpc, PingStream);

struct PingWorkload : PingMethods {
  // Client: the request to send, and whether an answer is right. Any will do: YDB's own benchmark server leaves the
  // time out.
  static Request MakeRequest(const RunConfig& /*config*/) { return {}; }
  static bool IsValid(const Response& /*response*/, const RunConfig& /*config*/) { return true; }

  // Server: the answer, as a message and as bytes.
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

}  // namespace cqbench
