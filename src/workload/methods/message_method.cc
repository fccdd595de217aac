#include "src/workload/methods/message_method.h"

#include <memory>

#include "src/workload/methods/methods.h"

namespace cqbench {
namespace {

using google::protobuf::MessageLite;

// Messages of type M, each after a call of `fill`. What is used again is filled once.
template <typename M, typename Fill>
class SupplyOf final : public ErasedSupply {
 public:
  SupplyOf(MessageStrategy strategy, Fill fill) : supply_(strategy), fill_(fill) { fill_(supply_.Current()); }

  MessageLite& Next() override {
    M& message = supply_.Next();
    if (!supply_.keeps()) fill_(message);
    return message;
  }
  MessageLite& Current() override { return supply_.Current(); }
  bool keeps() const override { return supply_.keeps(); }

 private:
  MessageSupply<M> supply_;
  const Fill fill_;
};

template <typename M, typename Fill>
ErasedMessages Erase(const RunConfig& config, Fill fill) {
  return {std::make_unique<SupplyOf<M, Fill>>(config.messages, fill), config.serializer};
}

}  // namespace

MessageMethod MessageMethodOf(int method_id) {
  return AllMethods::With(method_id, []<typename M>() {
    using Request = typename M::Request;
    using Response = typename M::Response;
    return MessageMethod{
        .requests =
            [](const RunConfig& config) {
              return Erase<Request>(config,
                                    [&message = config.message](Request& request) { M::Fill(request, message); });
            },
        .responses = [](const RunConfig& config) { return Erase<Response>(config, [](Response& /*response*/) {}); },
        .check = [](const MessageLite& response, const MessageConfig& config) -> absl::string_view {
          return M::Check(static_cast<const Response&>(response), config);
        }};
  });
}

}  // namespace cqbench
