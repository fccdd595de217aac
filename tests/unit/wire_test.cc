// The hand-written protobuf code compared with the generated classes.
#include "src/workload/messages/wire.h"

#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "cqbench/proto/echo.pb.h"
#include "cqbench/proto/ping.pb.h"
#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

constexpr uint32_t kResponseBytesField = 1;
constexpr uint32_t kPayloadField = 2;

std::string EchoRequestBytes(uint32_t response_bytes, size_t payload_bytes) {
  cqbench::v1::EchoRequest request;
  request.set_response_bytes(response_bytes);
  request.set_payload(std::string(payload_bytes, 'p'));
  return request.SerializeAsString();
}

bool Finds(const std::string& bytes, uint64_t expected) {
  uint64_t value = 12345;
  return wire::FindVarint(BufferOf(bytes), kResponseBytesField, &value) && value == expected;
}

bool Rejects(const std::string& bytes) {
  uint64_t value = 0;
  return !wire::FindVarint(BufferOf(bytes), kResponseBytesField, &value);
}

TEST(VarintField, IsWhatProtobufWrites) {
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128}, uint64_t{1'769'860'800'000'000},
                         std::numeric_limits<uint64_t>::max()}) {
    const std::string bytes = BytesOf(wire::VarintField(1, value));
    Ydb::Debug::V1::PlainGrpcResponse response;
    ASSERT_TRUE(response.ParseFromString(bytes)) << value;
    EXPECT_EQ(response.callbackts(), value);
    EXPECT_EQ(bytes, response.SerializeAsString());
  }
}

TEST(VarintField, ZeroIsTheEmptyMessage) {
  EXPECT_EQ(wire::VarintField(1, 0).Length(), 0u);
}

TEST(VarintSlice, FollowsAnotherField) {
  const grpc::Slice slices[] = {wire::BytesField(1, 300, PayloadOf(PayloadKind::kText, 1)), wire::VarintSlice(2, 777)};
  cqbench::v1::EchoResponse response;
  ASSERT_TRUE(response.ParseFromString(BytesOf(grpc::ByteBuffer(slices, 2))));
  EXPECT_EQ(response.payload().size(), 300u);
  EXPECT_EQ(response.requests(), 777u);
  EXPECT_EQ(wire::VarintSlice(2, 0).size(), 0u);
}

TEST(BytesField, IsWhatProtobufWrites) {
  for (size_t size :
       {size_t{0}, size_t{1}, size_t{127}, size_t{128}, size_t{16'383}, size_t{16'384}, size_t{1 << 20}}) {
    const PayloadSource& source = PayloadOf(PayloadKind::kRandom, 7);
    const std::string bytes = BytesOf(wire::BytesField(1, size, source));
    cqbench::v1::EchoResponse response;
    ASSERT_TRUE(response.ParseFromString(bytes)) << size;
    std::string payload;
    source.Fill(&payload, size);
    EXPECT_TRUE(response.payload() == payload) << size;
    EXPECT_TRUE(bytes == response.SerializeAsString()) << size;
  }
}

TEST(BytesField, LargeFieldNumbersHaveLongerTags) {
  EXPECT_EQ(BytesOf(wire::BytesField(2047, 1, PayloadOf(PayloadKind::kZero, 1))), std::string("\xfa\x7f\x01\0", 4));
}

TEST(FindVarint, ReadsWhatProtobufWrites) {
  for (uint32_t size : {0u, 1u, 127u, 128u, 1u << 20, std::numeric_limits<uint32_t>::max()}) {
    EXPECT_TRUE(Finds(EchoRequestBytes(size, 0), size)) << size;
    EXPECT_TRUE(Finds(EchoRequestBytes(size, 300), size)) << size;
  }
}

TEST(FindVarint, EmptyMessageHasTheDefault) {
  EXPECT_TRUE(Finds("", 0));
  EXPECT_TRUE(Finds(EchoRequestBytes(0, 10), 0));
}

TEST(FindVarint, SliceBoundariesDoNotMatter) {
  const std::string bytes = EchoRequestBytes(1'000'000, 50);
  for (size_t slice_size : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{16}, bytes.size()}) {
    uint64_t value = 0;
    EXPECT_TRUE(wire::FindVarint(BufferOf(bytes, slice_size), kResponseBytesField, &value)) << slice_size;
    EXPECT_EQ(value, 1'000'000u) << slice_size;
  }
}

TEST(FindVarint, LeavesTheMessageAsItWas) {
  const std::string bytes = EchoRequestBytes(77, 50);
  const grpc::ByteBuffer buffer = BufferOf(bytes, 3);
  uint64_t value = 0;
  ASSERT_TRUE(wire::FindVarint(buffer, kResponseBytesField, &value));
  EXPECT_EQ(BytesOf(buffer), bytes);
  EXPECT_TRUE(wire::FindVarint(buffer, kResponseBytesField, &value));
}

TEST(FindVarint, TheLastOneCountsAndOthersAreSkipped) {
  const std::string varint = "\x08\x05";
  const std::string later_varint = "\x08\x06";
  const std::string unknown_varint = "\x18\xff\x01";                                 // field 3
  const std::string unknown_fixed64 = std::string("\x21") + std::string(8, '\x08');  // field 4
  const std::string unknown_bytes = std::string("\x2a\x02\x08\x09");                 // field 5
  const std::string unknown_fixed32 = std::string("\x35") + std::string(4, '\x08');  // field 6
  const std::string others = unknown_varint + unknown_fixed64 + unknown_bytes + unknown_fixed32;
  EXPECT_TRUE(Finds(varint + later_varint, 6));
  EXPECT_TRUE(Finds(others + varint, 5));
  EXPECT_TRUE(Finds(varint + others, 5));
  EXPECT_TRUE(Finds(others, 0));
}

TEST(FindVarint, SameFieldWithAnotherTypeIsAnUnknownField) {
  EXPECT_TRUE(Finds(std::string("\x0a\x01\x07"), 0));
}

TEST(FindVarint, RefusesTruncatedMessages) {
  const std::string bytes = EchoRequestBytes(1'000'000, 5);
  const size_t after_first_field = bytes.size() - 7;
  for (size_t length = 1; length < bytes.size(); ++length) {
    if (length == after_first_field) continue;  // here the bytes are a valid message
    EXPECT_TRUE(Rejects(bytes.substr(0, length))) << length;
  }
}

TEST(FindVarint, RefusesGarbage) {
  EXPECT_TRUE(Rejects("not a protobuf message"));
  EXPECT_TRUE(Rejects(std::string(1, '\0'))) << "field number 0";
  EXPECT_TRUE(Rejects("\x08"));
  EXPECT_TRUE(Rejects("\x0f\x01")) << "wire type 7";
  EXPECT_TRUE(Rejects(std::string("\x08") + std::string(11, '\xff'))) << "a varint of more than ten bytes";
  EXPECT_TRUE(Rejects("\x12\xff\xff\xff\xff\x0f")) << "a field of 4 GiB";
  EXPECT_TRUE(Rejects("\x12\xff\xff\xff\xff\x07")) << "a field of 2 GiB";
}

bool FindsSize(const std::string& bytes, uint64_t expected, size_t slice_size = SIZE_MAX) {
  uint64_t size = 12345;
  return wire::FindBytesSize(BufferOf(bytes, slice_size), kPayloadField, &size) && size == expected;
}

TEST(FindBytesSize, IsThatOfThePayload) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{127}, size_t{128}, size_t{1} << 20}) {
    for (size_t slice_size : {size_t{5}, SIZE_MAX}) {
      EXPECT_TRUE(FindsSize(EchoRequestBytes(99, size), size, slice_size)) << size;
      EXPECT_TRUE(FindsSize(EchoRequestBytes(0, size), size, slice_size)) << size;
    }
  }
}

TEST(FindBytesSize, TheLastOneCountsAndOthersAreSkipped) {
  const std::string two = std::string("\x12\x02") + "ab";
  const std::string three = std::string("\x12\x03") + "abc";
  const std::string another = std::string("\x2a\x01") + "x";  // field 5
  EXPECT_TRUE(FindsSize(two + three, 3));
  EXPECT_TRUE(FindsSize(three + two + another, 2));
  EXPECT_TRUE(FindsSize(another, 0));
  EXPECT_TRUE(FindsSize("\x10\x07", 0)) << "of that number, but no bytes";
}

TEST(FindBytesSize, RefusesWhatIsNoMessage) {
  uint64_t size = 0;
  for (const std::string& bytes : {std::string("\x12"), std::string("\x12\x05") + "abcd", std::string("\x0f\x01"),
                                   std::string("\x12\xff\xff\xff\xff\x0f"), std::string(1, '\0')}) {
    for (size_t slice_size : {size_t{1}, SIZE_MAX}) {
      EXPECT_FALSE(wire::FindBytesSize(BufferOf(bytes, slice_size), kPayloadField, &size))
          << testing::PrintToString(bytes);
    }
  }
}

TEST(FindBytesEnds, AreThoseOfTheLastOne) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{1000}}) {
    std::string payload(size, '\0');
    for (size_t i = 0; i < size; ++i) payload[i] = static_cast<char>('a' + i % 26);
    v1::EchoResponse before, last;
    before.set_payload("another one, and it is longer");
    last.set_payload(payload);
    std::string bytes = before.SerializeAsString() + last.SerializeAsString();
    if (size == 0) bytes += std::string("\x0a\0", 2);  // protobuf omits an empty field
    for (const size_t slice_size : {size_t{1}, size_t{5}, SIZE_MAX}) {
      PayloadEnds ends, expected = PayloadEnds::Of(payload);
      ASSERT_TRUE(wire::FindBytesEnds(BufferOf(bytes, slice_size), 1, &ends)) << size;
      EXPECT_EQ(ends.size, size);
      EXPECT_EQ(ends.first, expected.first) << size;
      EXPECT_EQ(ends.last, expected.last) << size;
      if (size == 0) continue;
      EXPECT_FALSE(wire::FindBytesEnds(BufferOf(bytes.substr(0, bytes.size() - 1), slice_size), 1, &ends)) << size;
    }
  }
}

TEST(SharedBytesField, IsTheSameSliceUntilAnotherIsWanted) {
  const PayloadSource& zeros = PayloadOf(PayloadKind::kZero, 1);
  const PayloadSource& text = PayloadOf(PayloadKind::kText, 1);
  const uint8_t* const first = wire::SharedBytesField(2, 1000, zeros).begin();
  EXPECT_EQ(wire::SharedBytesField(2, 1000, zeros).begin(), first);
  const auto is_as_made = [](uint32_t field, size_t size, const PayloadSource& payload) {
    const grpc::Slice& shared = wire::SharedBytesField(field, size, payload);
    const grpc::Slice made = wire::BytesField(field, size, payload);
    return std::string(shared.begin(), shared.end()) == std::string(made.begin(), made.end());
  };
  EXPECT_TRUE(is_as_made(2, 1001, zeros));
  EXPECT_TRUE(is_as_made(3, 1001, zeros));
  EXPECT_TRUE(is_as_made(3, 1001, text));
  EXPECT_TRUE(is_as_made(3, 0, text));
}

}  // namespace
}  // namespace cqbench
