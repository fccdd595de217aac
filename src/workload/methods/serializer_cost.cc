#include "src/workload/methods/serializer_cost.h"

#include <algorithm>
#include <vector>

#include "cqbench/run_config.h"
#include "src/base/clock.h"
#include "src/workload/messages/with_serializer.h"
#include "src/workload/methods/methods.h"

namespace cqbench {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;  // at once in memory, or one message
constexpr size_t kMaxBatch = 64;
constexpr int kBatches = 31;
constexpr Nanos kPatience = 20 * kNanosPerMilli;  // of one figure; large messages get fewer batches

// The median time of a message in a batch: prepare() is not timed, work(i) is.
template <typename Prepare, typename Work>
double MedianOf(size_t batch, Prepare prepare, Work work) {
  std::vector<Nanos> times;
  const Nanos start = NowNs();
  for (int n = 0; n < kBatches && (n == 0 || NowNs() - start < kPatience); ++n) {
    prepare();
    const Nanos begin = NowNs();
    for (size_t i = 0; i < batch; ++i) work(i);
    times.push_back(NowNs() - begin);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<double>(*middle) / static_cast<double>(batch);
}

template <typename M>
void MeasureMessage(const M& message, const RunConfig& config, double& serialize_ns, double& parse_ns) {
  const size_t batch = std::clamp<size_t>(kBatchBytes / std::max<size_t>(message.ByteSizeLong(), 1), 1, kMaxBatch);
  std::vector<grpc::ByteBuffer> buffers(batch);
  serialize_ns = MedianOf(
      batch, [&] { std::fill(buffers.begin(), buffers.end(), grpc::ByteBuffer()); },
      [&](size_t i) { static_cast<void>(Serialize(config.serializer, message, &buffers[i])); });
  const grpc::ByteBuffer bytes = buffers.front();
  MessageSupply<M> supply(config.messages);
  parse_ns = MedianOf(
      batch, [&] { std::fill(buffers.begin(), buffers.end(), bytes); },
      [&](size_t i) { static_cast<void>(Parse(config.serializer, &buffers[i], &supply.Next())); });
}

// Returns the response that the server would send.
template <typename M>
typename M::Response ResponseTo(const typename M::Request& request) {
  typename M::Response response;
  if constexpr (Gathers<M>) {
    typename M::Gathered gathered{};
    static_cast<void>(M::Take(request, gathered));
    static_cast<void>(M::Respond(gathered, &response));
  } else if constexpr (M::kShape == Shape::kServerStreaming) {
    static_cast<void>(HandleNext<M>(request, /*left=*/0, &response));
  } else {
    static_cast<void>(M::Handle(request, &response));
  }
  return response;
}

}  // namespace

std::optional<SerializerCost> MeasureSerializerCost(const RunConfig& config) {
  if (config.messages == MessageStrategy::kBytes) return std::nullopt;
  return AllMethods::With(config.method.id, [&]<typename M>() {
    SerializerCost cost;
    typename M::Request request;
    M::Fill(request, config.message);
    MeasureMessage(request, config, cost.request_serialize_ns, cost.request_parse_ns);
    MeasureMessage(ResponseTo<M>(request), config, cost.response_serialize_ns, cost.response_parse_ns);
    return std::make_optional(cost);
  });
}

}  // namespace cqbench
