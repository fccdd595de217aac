// serialize/WORKLOAD/METHOD/{request,response}/HOLDER/CODEC and parse/…: the cost of a call's messages.

#include "src/config/messages.h"

#include <google/protobuf/util/message_differencer.h>

#include <set>
#include <string>
#include <typeindex>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "src/microbench/codecs.h"
#include "src/microbench/suite.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench::microbench {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr MessageStrategy kStrategies[] = {MessageStrategy::kFresh, MessageStrategy::kReused, MessageStrategy::kArena};

template <Method M>
typename M::Request RequestOf(const MessageConfig& config) {
  typename M::Request request;
  M::Fill(request, config);
  return request;
}

// Returns the server's response to that request.
template <Method M>
typename M::Response ResponseOf(const MessageConfig& config) {
  const typename M::Request request = RequestOf<M>(config);
  typename M::Response response;
  if constexpr (M::kShape == Shape::kClientStreaming) {
    typename M::Gathered gathered;
    M::Take(request, gathered);
    M::Respond(gathered, &response);
  } else if constexpr (M::kShape == Shape::kServerStreaming) {
    HandleNext<M>(request, /*left=*/0, &response);
  } else {
    M::Handle(request, &response);
  }
  return response;
}

// Until the bytes are there, as an engine does it: a message that is not used again is made and filled, too.
template <typename Serializer, typename T, typename Fill>
void Serialize(benchmark::State& state, MessageStrategy kind, const T& expected, const Fill& fill) {
  MessageSupply<T> supply(kind);
  fill(supply.Current());
  Serializer codec;
  bool ok = true;
  Measure(state, [&] {
    T& message = supply.Next();
    if (!supply.keeps()) fill(message);
    ok &= codec.Serialize(message);
  });
  T back;
  if (!ok || !codec.Parse(back) || !MessageDifferencer::Equals(back, expected)) {
    return Fail(state, "the bytes are not the message's");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(expected.ByteSizeLong()));
}

template <typename Serializer, typename T>
void Parse(benchmark::State& state, MessageStrategy kind, const T& expected) {
  MessageSupply<T> supply(kind);
  Serializer codec;
  bool ok = codec.Serialize(expected);
  Measure(state, [&] { ok &= codec.Parse(supply.Next()); });
  if (!ok || !MessageDifferencer::Equals(supply.Current(), expected)) {
    return Fail(state, "the message is not the one whose bytes they were");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(expected.ByteSizeLong()));
}

// `name`: "user/create/request". `fill` makes an empty message, or one that it filled before, into `expected`.
template <template <typename> typename Serializer, typename T, typename Fill>
void RegisterWith(const std::string& name, const std::string& suffix, const T& expected, const Fill& fill) {
  for (const MessageStrategy kind : kStrategies) {
    const std::string end = absl::StrCat("/", name, "/", ToString(kind), "/", Serializer<T>::kName, suffix);
    Add("serialize" + end, [=](benchmark::State& state) { Serialize<Serializer<T>>(state, kind, expected, fill); });
    Add("parse" + end, [=](benchmark::State& state) { Parse<Serializer<T>>(state, kind, expected); });
  }
}

template <typename T, typename Fill>
void RegisterMessage(const std::string& name, const std::string& suffix, const T& expected, const Fill& fill) {
  RegisterWith<ProtobufCodec>(name, suffix, expected, fill);
  RegisterWith<GrpcCodec>(name, suffix, expected, fill);
  RegisterWith<PooledCodec>(name, suffix, expected, fill);
}

}  // namespace

// Methods that share a type of message have the same costs, so the first one stands for all.
void RegisterMessages() {
  std::set<std::type_index> seen;
  AllMethods::ForEach([&]<typename M>() {
    const std::string name = absl::StrCat(M::kWorkload, "/", M::kName);
    const bool new_request = seen.insert(typeid(typename M::Request)).second;
    const bool new_response = seen.insert(typeid(typename M::Response)).second;
    for (const auto& [suffix, config] : MessageCases<M>()) {
      if (new_request) {
        RegisterMessage(name + "/request", suffix, RequestOf<M>(config),
                        [config = config](typename M::Request& request) { M::Fill(request, config); });
      }
      if (new_response) {
        const typename M::Response expected = ResponseOf<M>(config);
        RegisterMessage(name + "/response", suffix, expected,
                        [expected](typename M::Response& response) { response = expected; });
      }
    }
  });
}

}  // namespace cqbench::microbench
