// buffer/…: conversions between a message and gRPC's ByteBuffer, which is a list of slices: one slice, and several, as
// a transport delivers the bytes of several frames.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/microbench/codecs.h"
#include "src/microbench/suite.h"
#include "src/workload/messages/payload.h"

namespace cqbench::microbench {
namespace {

using Message = v1::EchoRequest;

Message MessageOf(uint32_t bytes) {
  Message message;
  PayloadOf(PayloadKind::kRandom, 1).Fill(message.mutable_payload(), bytes);
  return message;
}

// Cuts the bytes into this number of slices of about the same size.
grpc::ByteBuffer Cut(const std::string& bytes, size_t slices) {
  std::vector<grpc::Slice> pieces;
  for (size_t i = 0; i < slices; ++i) {
    const size_t from = bytes.size() * i / slices, to = bytes.size() * (i + 1) / slices;
    pieces.emplace_back(bytes.data() + from, to - from);
  }
  return grpc::ByteBuffer(pieces.data(), pieces.size());
}

void SetBytes(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

// Above the 1 MiB that gRPC's writer takes at once there are several slices; a counter shows their number.
void FromMessage(benchmark::State& state, uint32_t bytes) {
  const Message message = MessageOf(bytes);
  GrpcCodec<Message> codec;
  bool ok = true;
  Measure(state, [&] { ok &= codec.Serialize(message); });
  if (!ok || codec.bytes().Length() != message.ByteSizeLong()) return Fail(state, "the bytes are not the message's");
  std::vector<grpc::Slice> slices;
  if (!codec.bytes().Dump(&slices).ok()) return Fail(state, "the buffer cannot be read");
  state.counters["slices"] = static_cast<double>(slices.size());
  SetBytes(state, codec.bytes().Length());
}

void ToMessage(benchmark::State& state, uint32_t bytes, size_t slices) {
  const Message expected = MessageOf(bytes);
  const grpc::ByteBuffer buffer = Cut(expected.SerializeAsString(), slices);
  Message message;
  bool ok = true;
  Measure(state, [&] {
    grpc::ByteBuffer taken = buffer;
    ok &= grpc::SerializationTraits<Message>::Deserialize(&taken, &message).ok();
  });
  if (!ok || message.payload() != expected.payload()) return Fail(state, "the message is not the one that was cut");
  SetBytes(state, buffer.Length());
}

// Cost of a message that stays bytes (--messages bytes).
void Copy(benchmark::State& state, size_t slices) {
  const grpc::ByteBuffer buffer = Cut(MessageOf(64 << 10).SerializeAsString(), slices);
  Measure(state, [&] {
    grpc::ByteBuffer copy = buffer;
    benchmark::DoNotOptimize(copy);
  });
}

void FromSlices(benchmark::State& state, size_t slices) {
  std::vector<grpc::Slice> pieces;
  if (!Cut(MessageOf(64 << 10).SerializeAsString(), slices).Dump(&pieces).ok()) return Fail(state, "cannot be read");
  Measure(state, [&] {
    grpc::ByteBuffer buffer(pieces.data(), pieces.size());
    benchmark::DoNotOptimize(buffer);
  });
}

void ToSingleSlice(benchmark::State& state, size_t slices) {
  const std::string bytes = MessageOf(64 << 10).SerializeAsString();
  const grpc::ByteBuffer buffer = Cut(bytes, slices);
  grpc::Slice slice;
  bool ok = true;
  Measure(state, [&] { ok &= buffer.DumpToSingleSlice(&slice).ok(); });
  if (!ok || slice.size() != bytes.size()) return Fail(state, "the slice is not the buffer");
  SetBytes(state, bytes.size());
}

}  // namespace

void RegisterBuffers() {
  for (const uint32_t bytes : {1u << 10, 16u << 10, 1u << 20, 4u << 20}) {
    const std::string size = SizeName(bytes);
    Add("buffer/from-message/" + size, [=](benchmark::State& state) { FromMessage(state, bytes); });
    for (const size_t slices : {1u, 8u, 64u}) {
      Add(absl::StrCat("buffer/to-message/", size, "/slices:", slices),
          [=](benchmark::State& state) { ToMessage(state, bytes, slices); });
    }
  }
  for (const size_t slices : {1u, 64u}) {
    const std::string end = absl::StrCat("/64KiB/slices:", slices);
    Add("buffer/copy" + end, [=](benchmark::State& state) { Copy(state, slices); });
    Add("buffer/from-slices" + end, [=](benchmark::State& state) { FromSlices(state, slices); });
    Add("buffer/to-single-slice" + end, [=](benchmark::State& state) { ToSingleSlice(state, slices); });
  }
}

}  // namespace cqbench::microbench
