// serialize/WORKLOAD/METHOD/{request,response}/HOLDER/CODEC and parse/…: what a call pays for its messages.

#include <google/protobuf/util/message_differencer.h>

#include <set>
#include <string>
#include <typeindex>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "src/microbench/codecs.h"
#include "src/microbench/suite.h"
#include "src/workload/messages/holder.h"

namespace cqbench::microbench {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr MessageHolder kHolders[] = {MessageHolder::kFresh, MessageHolder::kReused, MessageHolder::kArena};

template <Method M>
typename M::Request RequestOf(const MessageConfig& config) {
  typename M::Request request;
  M::Fill(request, config);
  return request;
}

// As the server answers that request.
template <Method M>
typename M::Response ResponseOf(const MessageConfig& config) {
  const typename M::Request request = RequestOf<M>(config);
  typename M::Response response;
  if constexpr (M::kShape == Shape::kClientStreaming) {
    typename M::Gathered gathered;
    M::Take(request, gathered);
    M::Answer(gathered, &response);
  } else if constexpr (M::kShape == Shape::kServerStreaming) {
    HandleNext<M>(request, /*left=*/0, &response);
  } else {
    M::Handle(request, &response);
  }
  return response;
}

// Until the bytes are there, as an engine does it: a message that is not used again is made and filled, too.
template <typename Codec, typename T, typename Fill>
void Serialize(benchmark::State& state, MessageHolder kind, const T& expected, const Fill& fill) {
  Holder<T> holder(kind);
  fill(holder.Current());
  Codec codec;
  bool ok = true;
  Measure(state, [&] {
    T& message = holder.Next();
    if (!holder.keeps()) fill(message);
    ok &= codec.Serialize(message);
  });
  T back;
  if (!ok || !codec.Parse(back) || !MessageDifferencer::Equals(back, expected)) {
    return Fail(state, "the bytes are not the message's");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(expected.ByteSizeLong()));
}

template <typename Codec, typename T>
void Parse(benchmark::State& state, MessageHolder kind, const T& expected) {
  Holder<T> holder(kind);
  Codec codec;
  bool ok = codec.Serialize(expected);
  Measure(state, [&] { ok &= codec.Parse(holder.Next()); });
  if (!ok || !MessageDifferencer::Equals(holder.Current(), expected)) {
    return Fail(state, "the message is not the one whose bytes they were");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(expected.ByteSizeLong()));
}

// `name`: "user/create/request". `fill` makes an empty message, or one that it filled before, into `expected`.
template <template <typename> typename Codec, typename T, typename Fill>
void RegisterWith(const std::string& name, const std::string& suffix, const T& expected, const Fill& fill) {
  for (const MessageHolder kind : kHolders) {
    const std::string end = absl::StrCat("/", name, "/", ToString(kind), "/", Codec<T>::kName, suffix);
    Add("serialize" + end, [=](benchmark::State& state) { Serialize<Codec<T>>(state, kind, expected, fill); });
    Add("parse" + end, [=](benchmark::State& state) { Parse<Codec<T>>(state, kind, expected); });
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
