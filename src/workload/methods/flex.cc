#include "src/workload/methods/flex.h"

#include <grpcpp/support/slice.h>

#include <cstring>
#include <string>

#include "src/config/messages.h"
#include "src/workload/messages/wire.h"

namespace cqbench {
namespace {

constexpr char kWrongFields[] = "the response's msg is not the request's";

// The values of the post's second scenario.
flex::ComplexType Complex() {
  flex::ComplexType msg;
  msg.set_doublefield(123.4567);
  msg.set_floatfield(123.4567F);
  msg.set_int32field(1234);
  msg.set_int64field(1234567);
  msg.set_uint32field(1234);
  msg.set_uint64field(1234567);
  msg.set_sint32field(1234);
  msg.set_sint64field(1234567);
  msg.set_fixed32field(1234);
  msg.set_fixed64field(1234567);
  msg.set_sfixed32field(1234);
  msg.set_sfixed64field(1234567);
  msg.set_boolfield(true);
  msg.set_stringfield("hello world");
  msg.mutable_msgfield();
  msg.add_repeatedmsgfield();
  msg.add_repeatedmsgfield();
  msg.mutable_optionalmsgfield();
  return msg;
}

const flex::ComplexType& TheComplex() {
  static const auto& msg = *new flex::ComplexType(Complex());
  return msg;
}

// Messages of type Other are all the same: only whether they are there can differ.
bool Same(const flex::ComplexType& a, const flex::ComplexType& b) {
  return a.doublefield() == b.doublefield() && a.floatfield() == b.floatfield() && a.int32field() == b.int32field() &&
         a.int64field() == b.int64field() && a.uint32field() == b.uint32field() && a.uint64field() == b.uint64field() &&
         a.sint32field() == b.sint32field() && a.sint64field() == b.sint64field() &&
         a.fixed32field() == b.fixed32field() && a.fixed64field() == b.fixed64field() &&
         a.sfixed32field() == b.sfixed32field() && a.sfixed64field() == b.sfixed64field() &&
         a.boolfield() == b.boolfield() && a.stringfield() == b.stringfield() && a.has_msgfield() == b.has_msgfield() &&
         a.repeatedmsgfield_size() == b.repeatedmsgfield_size() && a.has_optionalmsgfield() == b.has_optionalmsgfield();
}

std::string Expected(Content content) {
  flex::FlexReply reply;
  if (content == Content::kComplex) *reply.mutable_msg() = TheComplex();
  return reply.SerializeAsString();
}

const std::string& ExpectedBytes(Content content) {
  static const auto& empty = *new std::string(Expected(Content::kEmpty));
  static const auto& complex = *new std::string(Expected(Content::kComplex));
  return content == Content::kComplex ? complex : empty;
}

bool OneSlice(const grpc::ByteBuffer& buffer, grpc::Slice* slice) {
  return buffer.Length() == 0 || buffer.TrySingleSlice(slice).ok() || buffer.DumpToSingleSlice(slice).ok();
}

}  // namespace

void FlexNormal::Fill(Request& request, const MessageConfig& config) {
  if (config.content == Content::kComplex) *request.mutable_msg() = TheComplex();
}

absl::string_view FlexNormal::Check(const Response& response, const MessageConfig& config) {
  const bool complex = config.content == Content::kComplex;
  if (response.has_msg() != complex) return kWrongFields;
  return !complex || Same(response.msg(), TheComplex()) ? absl::string_view() : kWrongFields;
}

// Nearly every library writes fields in the order of their numbers, but none has to.
absl::string_view FlexNormal::CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& config) {
  grpc::Slice slice;
  if (!OneSlice(response, &slice)) return kWrongFields;
  const std::string& expected = ExpectedBytes(config.content);
  if (slice.size() == expected.size() && std::memcmp(slice.begin(), expected.data(), expected.size()) == 0) return {};
  Response parsed;
  if (!parsed.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) return kWrongFields;
  return Check(parsed, config);
}

grpc::Status FlexNormal::HandleBytes(const grpc::ByteBuffer& request, grpc::ByteBuffer* response) {
  if (!wire::IsMessage(request, /*nested=*/1)) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "the request is not a FlexRequest"};
  }
  *response = request;
  return grpc::Status::OK;
}

}  // namespace cqbench
