// Structs that are not methods, each for another reason. Tests compile one at a time, with -DBAD_METHOD=NAME, and check
// the compiler's errors.

#include "src/workload/methods/echo.h"
#include "src/workload/methods/method.h"
#include "src/workload/methods/ping.h"

namespace cqbench {

struct Good : PingUnary {};

struct WithoutRpc : EchoMessages {
  static constexpr char kName[] = "upload";
};

struct WithoutCheck {
  using Request = PingMessages::Request;
  using Response = PingMessages::Response;
  static constexpr char kWorkload[] = "ping";
  static constexpr char kName[] = "unary";
  static constexpr bool kHasPayload = false;
  CQBENCH_UNARY(Ydb::Debug::V1::DebugService, PingPlainGrpc);
  static void Fill(Request&, const MessageConfig&) {}
  static grpc::Status Handle(const Request&, Response*) { return grpc::Status::OK; }
  static grpc::Status HandleBytes(const grpc::ByteBuffer&, grpc::ByteBuffer*) { return grpc::Status::OK; }
};

// Server-streaming, but without a function for the number of responses.
struct WithoutCount : EchoMessages {
  static constexpr char kName[] = "download";
  CQBENCH_SERVER_STREAMING(v1::EchoService, Download);
};

struct WithAnotherResponse : EchoMessages {
  static constexpr char kName[] = "unary";
  CQBENCH_UNARY(v1::EchoService, Echo);
  static grpc::Status Handle(const Request&, Ydb::Debug::V1::PlainGrpcResponse*) { return grpc::Status::OK; }
};

static_assert(IsMethod<BAD_METHOD>());

}  // namespace cqbench
