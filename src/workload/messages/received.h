// A response of a call, and whether it arrived.
//
// The library does not always tell: with the asynchronous APIs a call with one response may end with status OK without
// a message, and to a reactor bytes that cannot be parsed look the same as a message. A response that is used again
// then still has its old content. So the library is given this instead of the message, and reading the bytes notes what
// arrived.
#pragma once

#include <grpcpp/impl/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "src/config/messages.h"
#include "src/workload/messages/message_supply.h"

namespace cqbench {

enum class Arrival : uint8_t { kNothing, kMessage, kUnreadable };

// `R`: a protobuf message, WithSerializer, or grpc::ByteBuffer.
template <typename R>
struct Received {
  R* message = nullptr;
  Arrival arrival = Arrival::kNothing;
};

// Returns what is wrong with a call that ended with status OK and `arrival`; "" for a message.
inline absl::string_view DescribeMissing(Arrival arrival) {
  switch (arrival) {
    case Arrival::kNothing:
      return "the call ended with status OK, but without a response message";
    case Arrival::kUnreadable:
      return "the response's bytes are not a message of its type";
    case Arrival::kMessage:
      break;
  }
  return {};
}

// The same as of the response itself. What Next() returns has not arrived.
template <typename R>
class MessageSupply<Received<R>> {
 public:
  // `from`: the argument that a supply of R is made from.
  template <typename From>
  explicit MessageSupply(From from) : supply_(std::move(from)), received_{&supply_.Current()} {}

  Received<R>& Next() {
    received_.message = &supply_.Next();
    received_.arrival = Arrival::kNothing;
    return received_;
  }
  Received<R>& Current() { return received_; }

 private:
  MessageSupply<R> supply_;
  Received<R> received_;
};

}  // namespace cqbench

namespace grpc {

template <typename R>
class SerializationTraits<cqbench::Received<R>, void> {
 public:
  // Bytes that cannot be parsed are not an error here. The library would take an error for the end of a stream, and
  // its blocking client-streaming call would end the process (ClientWriter::Finish() asserts that there is none).
  static Status Deserialize(ByteBuffer* bytes, cqbench::Received<R>* received) {
    Status status = SerializationTraits<R>::Deserialize(bytes, received->message);
    received->arrival = status.ok() ? cqbench::Arrival::kMessage : cqbench::Arrival::kUnreadable;
    if (!status.ok()) [[unlikely]]
      status = Status::OK;
    return status;
  }
};

}  // namespace grpc
