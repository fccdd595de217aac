#include "src/workload/messages/with_serializer.h"

#include "cqbench/proto/ping.grpc.pb.h"  // includes the library's SerializationTraits of messages
#include "src/workload/messages/serializer_times.h"

namespace grpc {
namespace {

using cqbench::SerializerTimes;
using cqbench::WithSerializer;

bool IsTimed(const SerializerTimes& times, const WithSerializer& wrapped) {
  return times.on() && wrapped.uses % SerializerTimes::kEvery == 0;
}

}  // namespace

Status SerializationTraits<WithSerializer, void>::Serialize(const WithSerializer& wrapped, ByteBuffer* bytes,
                                                            bool* own_buffer) {
  *own_buffer = true;
  SerializerTimes& times = SerializerTimes::OfClient();
  const auto serialize = [&] { return cqbench::Serialize(wrapped.serializer, *wrapped.message, bytes); };
  return IsTimed(times, wrapped) ? times.Serializing(serialize) : serialize();
}

Status SerializationTraits<WithSerializer, void>::Deserialize(ByteBuffer* bytes, WithSerializer* wrapped) {
  SerializerTimes& times = SerializerTimes::OfClient();
  const auto parse = [&] { return cqbench::Parse(wrapped->serializer, bytes, wrapped->message); };
  return IsTimed(times, *wrapped) ? times.Parsing(parse) : parse();
}

}  // namespace grpc
