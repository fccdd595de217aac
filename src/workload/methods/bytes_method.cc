#include "src/workload/methods/bytes_method.h"

#include "src/workload/methods/methods.h"

namespace cqbench {
namespace {

template <Method M>
struct BuiltInChecker : BytesChecker {
  explicit BuiltInChecker(const MessageConfig& of)
      : BytesChecker([](const BytesChecker& self, const grpc::ByteBuffer& response) {
          return absl::string_view(M::CheckBytes(response, static_cast<const BuiltInChecker&>(self).config));
        }),
        config(of) {}
  const MessageConfig config;
};

}  // namespace

std::shared_ptr<const BytesMethod> MakeBytesMethod(int method_id, const MessageConfig& config) {
  return AllMethods::With(method_id, [&]<typename M>() -> std::shared_ptr<const BytesMethod> {
    auto method = std::make_shared<BytesMethod>();
    method->path = PathOf<M>();
    method->shape = M::kShape;
    typename M::Request message;
    M::Fill(message, config);
    const grpc::Slice slice(message.SerializeAsString());
    method->requests.emplace_back(&slice, 1);
    method->responses = config.stream_messages;
    method->checker = std::make_shared<BuiltInChecker<M>>(config);
    return method;
  });
}

}  // namespace cqbench
