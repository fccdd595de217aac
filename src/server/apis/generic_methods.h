// The methods as the generic server has them: found by their path, on bytes. It hands these to the method as they are,
// or makes messages of them by itself, with the serializer and in the way to live that it was started with.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/server.h"
#include "src/workload/messages/with_serializer.h"
#include "src/workload/methods/methods.h"

namespace cqbench {

// The messages of one method in one call.
template <typename M>
struct MessagePair {
  explicit MessagePair(MessageStrategy strategy) : request(strategy), response(strategy) {}
  MessageSupply<typename M::Request> request;
  MessageSupply<typename M::Response> response;
};

// One method's part of a call object, which calls of all methods use. Messages are made when they are first needed.
template <typename M>
struct PartOf {
  std::unique_ptr<MessagePair<M>> messages;
};
template <Gathers M>
struct PartOf<M> {
  std::unique_ptr<MessagePair<M>> messages;
  typename M::Gathered gathered{};
};

template <typename... Ms>
struct AllParts : PartOf<Ms>... {};

struct GenericMethod;

// A call keeps this from one message to the next.
struct GenericCallState : AllMethods::Apply<AllParts> {
  MessageStrategy strategy = MessageStrategy::kBytes;
  Serializer serializer = Serializer::kProtobuf;
  const GenericMethod* method = nullptr;
  uint32_t left = 0;                 // server-streaming: responses that follow
  SerializerTimes* times = nullptr;  // where those of the message under way go; nullptr: it is not timed

  template <typename M>
  PartOf<M>& Of() {
    return *this;
  }
  template <typename M>
  MessagePair<M>& Messages() {
    auto& messages = Of<M>().messages;
    if (messages == nullptr) [[unlikely]]
      messages = std::make_unique<MessagePair<M>>(strategy);
    return *messages;
  }
};

// The functions that the method's shape asks for; the others are null.
struct GenericMethod {
  using Bytes = grpc::ByteBuffer;
  using State = GenericCallState;
  std::string path;
  Shape shape;
  // Server-streaming: of the request that was counted.
  grpc::Status (*handle)(State& state, Bytes& request, Bytes* response) = nullptr;
  grpc::Status (*count)(State& state, Bytes& request, uint32_t* count) = nullptr;
  void (*begin)(State& state) = nullptr;
  grpc::Status (*take)(State& state, Bytes& request) = nullptr;
  grpc::Status (*respond)(State& state, Bytes* response) = nullptr;
  void (*rest)(State& state) = nullptr;  // after the call
  std::vector<Bytes> responses{};        // of a stand-in, the last one first
};

template <typename M>
GenericMethod DescribeBytes() {
  using Bytes = grpc::ByteBuffer;
  using State = GenericCallState;
  GenericMethod method{.path = PathOf<M>(), .shape = M::kShape};
  if constexpr (M::kShape == Shape::kServerStreaming) {
    method.handle = [](State& state, Bytes& request, Bytes* response) {
      return HandleNextBytes<M>(request, state.left, response);
    };
  } else if constexpr (Responds<M>) {
    method.handle = [](State&, Bytes& request, Bytes* response) { return M::HandleBytes(request, response); };
  }
  if constexpr (RespondsOften<M>) {
    method.count = [](State&, Bytes& request, uint32_t* count) { return M::CountResponsesInBytes(request, count); };
  }
  if constexpr (Gathers<M>) {
    method.begin = [](State& state) { state.Of<M>().gathered = {}; };
    method.take = [](State& state, Bytes& request) { return M::TakeBytes(request, state.Of<M>().gathered); };
    method.respond = [](State& state, Bytes* response) { return M::RespondBytes(state.Of<M>().gathered, response); };
  }
  return method;
}

// Takes the bytes.
template <typename M>
grpc::Status ParseRequest(GenericCallState& state, grpc::ByteBuffer& bytes) {
  auto& request = state.Messages<M>().request.Next();
  const auto parse = [&] { return Parse(state.serializer, &bytes, &request); };
  const bool good = (state.times != nullptr ? state.times->Parsing(parse) : parse()).ok();
  if (good) return grpc::Status::OK;
  return {grpc::StatusCode::INVALID_ARGUMENT, absl::StrCat("the request is not a ", request.GetTypeName())};
}
template <typename M>
grpc::Status WriteResponse(GenericCallState& state, const typename M::Response& response, grpc::ByteBuffer* bytes) {
  bytes->Clear();  // of the last time: the library writes into an empty one only
  const auto serialize = [&] { return Serialize(state.serializer, response, bytes); };
  return state.times != nullptr ? state.times->Serializing(serialize) : serialize();
}

template <typename M>
GenericMethod DescribeMessages() {
  using Bytes = grpc::ByteBuffer;
  using State = GenericCallState;
  GenericMethod method{.path = PathOf<M>(), .shape = M::kShape};
  method.rest = [](State& state) {
    const auto& messages = state.Of<M>().messages;
    if (messages == nullptr) return;  // refused before there was one
    messages->request.Rest();
    messages->response.Rest();
  };
  if constexpr (M::kShape == Shape::kServerStreaming) {
    method.handle = [](State& state, Bytes& /*request*/, Bytes* bytes) -> grpc::Status {
      auto& messages = state.Messages<M>();
      typename M::Response& response = messages.response.Next();
      grpc::Status status = HandleNext<M>(messages.request.Current(), state.left, &response);
      return status.ok() ? WriteResponse<M>(state, response, bytes) : status;
    };
  } else if constexpr (Responds<M>) {
    method.handle = [](State& state, Bytes& request, Bytes* bytes) -> grpc::Status {
      if (grpc::Status status = ParseRequest<M>(state, request); !status.ok()) return status;
      auto& messages = state.Messages<M>();
      typename M::Response& response = messages.response.Next();
      if (grpc::Status status = M::Handle(messages.request.Current(), &response); !status.ok()) return status;
      return WriteResponse<M>(state, response, bytes);
    };
  }
  if constexpr (RespondsOften<M>) {
    method.count = [](State& state, Bytes& request, uint32_t* count) -> grpc::Status {
      if (grpc::Status status = ParseRequest<M>(state, request); !status.ok()) return status;
      return M::CountResponses(state.Messages<M>().request.Current(), count);
    };
  }
  if constexpr (Gathers<M>) {
    method.begin = [](State& state) { state.Of<M>().gathered = {}; };
    method.take = [](State& state, Bytes& request) -> grpc::Status {
      if (grpc::Status status = ParseRequest<M>(state, request); !status.ok()) return status;
      return M::Take(state.Messages<M>().request.Current(), state.Of<M>().gathered);
    };
    method.respond = [](State& state, Bytes* bytes) -> grpc::Status {
      typename M::Response& response = state.Messages<M>().response.Next();
      if (grpc::Status status = M::Respond(state.Of<M>().gathered, &response); !status.ok()) return status;
      return WriteResponse<M>(state, response, bytes);
    };
  }
  return method;
}

// Nothing is looked at, and nothing made: what is answered is there.
inline GenericMethod DescribeStandIn(const StandIn& stand_in) {
  using Bytes = grpc::ByteBuffer;
  using State = GenericCallState;
  GenericMethod method{.path = stand_in.path, .shape = stand_in.shape};
  method.handle = [](State& state, Bytes&, Bytes* response) {
    *response = state.method->responses[state.left];
    return grpc::Status::OK;
  };
  method.count = [](State& state, Bytes&, uint32_t* count) {
    *count = static_cast<uint32_t>(state.method->responses.size());
    return grpc::Status::OK;
  };
  method.take = [](State&, Bytes&) { return grpc::Status::OK; };
  method.respond = [](State& state, Bytes* response) {
    *response = state.method->responses.front();
    return grpc::Status::OK;
  };
  for (auto text = stand_in.responses.rbegin(); text != stand_in.responses.rend(); ++text) {
    const grpc::Slice slice(*text);
    method.responses.emplace_back(&slice, 1);
  }
  return method;
}

// A stand-in first: it may take the place of one of ours.
inline std::vector<GenericMethod> DescribeMethods(const ServerConfig& config) {
  std::vector<GenericMethod> all;
  if (config.stand_in) all.push_back(DescribeStandIn(*config.stand_in));
  AllMethods::ForEach([&]<typename M>() {
    all.push_back(config.messages == MessageStrategy::kBytes ? DescribeBytes<M>() : DescribeMessages<M>());
  });
  return all;
}

}  // namespace cqbench
