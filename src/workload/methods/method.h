// A method is one RPC, described once for every client engine and every server: a struct of static
// functions and types; adding one takes its proto, a struct like those in ping.h, and a line in methods.h.
#pragma once

#include <grpcpp/grpcpp.h>

#include <concepts>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "cqbench/method_info.h"
#include "src/config/messages.h"

namespace cqbench {

// --- what every method has, whatever its shape ---

// Names and messages. `Service` is the generated service class; kWorkload and kName are what people type; kRpc is the
// method's name in the proto; kHasPayload: --request-bytes and the like mean something; kHasContent, which may be left
// out: --content does.
// Everything from kRpc on comes from one of the CQBENCH_… macros below.
template <typename M>
concept DeclaresRpc = requires {
  typename M::Service;
  typename M::Request;
  typename M::Response;
  { M::kWorkload } -> std::convertible_to<absl::string_view>;
  { M::kName } -> std::convertible_to<absl::string_view>;
  { M::kHasPayload } -> std::convertible_to<bool>;
  { M::kRpc } -> std::convertible_to<absl::string_view>;
  { M::kShape } -> std::convertible_to<Shape>;
};

// Client. Fill() makes an empty request, or one that was filled before with the same config, into what is sent; it
// draws nothing at random. Check() says what is wrong with a response, or nothing; CheckBytes() the same without
// protobuf. Any thread, at the same time.
template <typename M>
concept FillsAndChecks = requires(typename M::Request& request, const typename M::Response& response,
                                  const grpc::ByteBuffer& bytes, const MessageConfig& config) {
  { M::Fill(request, config) } -> std::same_as<void>;
  { M::Check(response, config) } -> std::convertible_to<absl::string_view>;
  { M::CheckBytes(bytes, config) } -> std::convertible_to<absl::string_view>;
};

// --- what the server does, by shape; each as messages and as bytes, for the generic server ---

// Unary: Handle() answers the call. Bidi: it answers each message, in order. `response` is empty, or a response of the
// same method from before. A status that is not OK ends the call.
template <typename M>
concept Responds = requires(const typename M::Request& request, typename M::Response* response,
                            const grpc::ByteBuffer& request_bytes, grpc::ByteBuffer* response_bytes) {
  { M::Handle(request, response) } -> std::same_as<grpc::Status>;
  { M::HandleBytes(request_bytes, response_bytes) } -> std::same_as<grpc::Status>;
};

// The same where responses of a stream differ: `left` is how many follow this one.
template <typename M>
concept RespondsInOrder = requires(const typename M::Request& request, uint32_t left, typename M::Response* response,
                                   const grpc::ByteBuffer& request_bytes, grpc::ByteBuffer* response_bytes) {
  { M::Handle(request, left, response) } -> std::same_as<grpc::Status>;
  { M::HandleBytes(request_bytes, left, response_bytes) } -> std::same_as<grpc::Status>;
};

// Server-streaming: CountResponses() says how many responses the request asks for, then Handle() makes each.
template <typename M>
concept RespondsOften = (Responds<M> || RespondsInOrder<M>)&&requires(const typename M::Request& request,
                                                                      const grpc::ByteBuffer& bytes, uint32_t* count) {
  { M::CountResponses(request, count) } -> std::same_as<grpc::Status>;
  { M::CountResponsesInBytes(bytes, count) } -> std::same_as<grpc::Status>;
};

// Client-streaming: Take() adds a message to what is known of the call, Respond() ends it.
template <typename M>
concept Gathers = requires(const typename M::Request& request, typename M::Response* response,
                           const grpc::ByteBuffer& request_bytes, grpc::ByteBuffer* response_bytes,
                           typename M::Gathered& gathered) {
  requires std::default_initializable<typename M::Gathered>;
  { M::Take(request, gathered) } -> std::same_as<grpc::Status>;
  { M::TakeBytes(request_bytes, gathered) } -> std::same_as<grpc::Status>;
  { M::Respond(gathered, response) } -> std::same_as<grpc::Status>;
  { M::RespondBytes(gathered, response_bytes) } -> std::same_as<grpc::Status>;
};

template <typename M>
concept ServesItsShape = (M::kShape == Shape::kClientStreaming && Gathers<M>) ||
                         (M::kShape == Shape::kServerStreaming && RespondsOften<M>) ||
                         ((M::kShape == Shape::kUnary || M::kShape == Shape::kBidi) && Responds<M>);

template <typename M>
concept Method = DeclaresRpc<M> && FillsAndChecks<M> && ServesItsShape<M>;

// The list of methods asserts this of each, in words.
template <typename M>
consteval bool IsMethod() {
  static_assert(DeclaresRpc<M>,
                "a method declares Service, Request, Response, kWorkload, kName, kHasPayload and one of CQBENCH_UNARY, "
                "CQBENCH_CLIENT_STREAMING, CQBENCH_SERVER_STREAMING, CQBENCH_BIDI (src/workload/methods/method.h)");
  static_assert(FillsAndChecks<M>, "a method has Fill(), Check() and CheckBytes() (src/workload/methods/method.h)");
  static_assert(ServesItsShape<M>,
                "a method answers as its shape asks: Handle() and HandleBytes() (unary, bidi), CountResponses() and "
                "CountResponsesInBytes() as well (server-streaming), Take(), Respond() and their bytes variants "
                "(client-streaming) (src/workload/methods/method.h)");
  return Method<M>;
}

// The default of --chunk-bytes and --chunks. A method that streams chunks declares a kChunked of this.
struct ChunkedStream {
  uint32_t chunk_bytes = 0;
  uint32_t chunks = 0;
};
template <typename M>
concept StreamsChunks = requires {
  { M::kChunked } -> std::convertible_to<ChunkedStream>;
};

template <typename M>
consteval bool HasContent() {
  if constexpr (requires { M::kHasContent; }) return M::kHasContent;
  return false;
}

// The response of a stream after which `left` follow.
template <RespondsOften M>
grpc::Status HandleNext(const typename M::Request& request, uint32_t left, typename M::Response* response) {
  if constexpr (RespondsInOrder<M>) {
    return M::Handle(request, left, response);
  } else {
    return M::Handle(request, response);
  }
}
template <RespondsOften M>
grpc::Status HandleNextBytes(const grpc::ByteBuffer& request, uint32_t left, grpc::ByteBuffer* response) {
  if constexpr (RespondsInOrder<M>) {
    return M::HandleBytes(request, left, response);
  } else {
    return M::HandleBytes(request, response);
  }
}

template <typename M>
std::string PathOf() {
  return std::string("/") + M::Service::service_full_name() + "/" + M::kRpc;
}

// --- what generated code forces ---
//
// A generated stub or service has a member function per RPC and no other handle on it. Pointers to members do for
// the client and for posting requests; overriding a handler takes its name, and hence a macro. Each defines kShape,
// kRpc and
//   kPrepare   Stub::PrepareAsyncRPC
//   kStart     Stub::async::RPC with a reactor
//   kPost      AsyncService::RequestRPC
//   OnSync<Base, Handler>, OnCallback<Base, Handler>
//              the service Base with this RPC handled by Handler::Serve(this->probes, the handler's arguments...)
//   SetAllocator(service, allocator)   unary only: CallbackService::SetMessageAllocatorFor_RPC
// Request and Response must be declared before, in a base class or above.
#define CQBENCH_RPC_(SERVICE, RPC, SHAPE, ...)                                                     \
  using Service = SERVICE;                                                                         \
  static constexpr Shape kShape = Shape::SHAPE;                                                    \
  static constexpr char kRpc[] = #RPC;                                                             \
  static constexpr auto kPrepare = &Service::Stub::PrepareAsync##RPC;                              \
  static constexpr void (Service::Stub::async::*kStart)(__VA_ARGS__) = &Service::Stub::async::RPC; \
  static constexpr auto kPost = &Service::AsyncService::Request##RPC
#define CQBENCH_ON_(API, RESULT, RPC, PARAMETERS, ARGUMENTS)            \
  template <typename Base, typename Handler>                            \
  struct API : Base {                                                   \
    using Base::Base;                                                   \
    RESULT RPC PARAMETERS override { return Handler::Serve ARGUMENTS; } \
  }

#define CQBENCH_UNARY(SERVICE, RPC)                                                                               \
  CQBENCH_RPC_(SERVICE, RPC, kUnary, grpc::ClientContext*, const Request*, Response*, grpc::ClientUnaryReactor*); \
  CQBENCH_ON_(OnSync, grpc::Status, RPC, (grpc::ServerContext * c, const Request* q, Response* r),                \
              (this->probes, c, q, r));                                                                           \
  CQBENCH_ON_(OnCallback, grpc::ServerUnaryReactor*, RPC,                                                         \
              (grpc::CallbackServerContext * c, const Request* q, Response* r), (this->probes, c, q, r));         \
  template <typename S, typename Allocator>                                                                       \
  static void SetAllocator(S& service, Allocator* allocator) {                                                    \
    service.SetMessageAllocatorFor_##RPC(allocator);                                                              \
  }                                                                                                               \
  static_assert(true)

#define CQBENCH_CLIENT_STREAMING(SERVICE, RPC)                                                                       \
  CQBENCH_RPC_(SERVICE, RPC, kClientStreaming, grpc::ClientContext*, Response*, grpc::ClientWriteReactor<Request>*); \
  CQBENCH_ON_(OnSync, grpc::Status, RPC, (grpc::ServerContext * c, grpc::ServerReader<Request> * s, Response * r),   \
              (this->probes, c, s, r));                                                                              \
  CQBENCH_ON_(OnCallback, grpc::ServerReadReactor<Request>*, RPC, (grpc::CallbackServerContext * c, Response * r),   \
              (this->probes, c, r))

#define CQBENCH_SERVER_STREAMING(SERVICE, RPC)                                                                         \
  CQBENCH_RPC_(SERVICE, RPC, kServerStreaming, grpc::ClientContext*, const Request*,                                   \
               grpc::ClientReadReactor<Response>*);                                                                    \
  CQBENCH_ON_(OnSync, grpc::Status, RPC, (grpc::ServerContext * c, const Request* q, grpc::ServerWriter<Response>* s), \
              (this->probes, c, q, s));                                                                                \
  CQBENCH_ON_(OnCallback, grpc::ServerWriteReactor<Response>*, RPC,                                                    \
              (grpc::CallbackServerContext * c, const Request* q), (this->probes, c, q))

#define CQBENCH_BIDI(SERVICE, RPC)                                                                                   \
  CQBENCH_RPC_(SERVICE, RPC, kBidi, grpc::ClientContext*, grpc::ClientBidiReactor<Request, Response>*);              \
  CQBENCH_ON_(OnSync, grpc::Status, RPC, (grpc::ServerContext * c, grpc::ServerReaderWriter<Response, Request> * s), \
              (this->probes, c, s));                                                                                 \
  CQBENCH_ON_(OnCallback, grpc::ServerBidiReactor<Request CQBENCH_COMMA_ Response>*, RPC,                            \
              (grpc::CallbackServerContext * c), (this->probes, c))
#define CQBENCH_COMMA_ ,

}  // namespace cqbench
