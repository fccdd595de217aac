// The buffer-reusing serializer writes and reads what the library's does, and its memory comes back from whichever
// thread.
#include "src/workload/messages/with_serializer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "src/workload/messages/serializer_times.h"
#include "src/workload/methods/message_method.h"
#include "src/workload/methods/methods.h"
#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

using v1::EchoRequest;

EchoRequest Message(size_t size) {
  EchoRequest message;
  message.set_payload(std::string(size, 'x'));
  return message;
}
grpc::ByteBuffer Serialized(Serializer serializer, const EchoRequest& message) {
  grpc::ByteBuffer bytes;
  EXPECT_TRUE(Serialize(serializer, message, &bytes).ok());
  return bytes;
}

// Sizes around the boundaries between inline slices, cut buffers, whole buffers, and buffers outside of the pool.
constexpr size_t kSizes[] = {0,      1,      20,     21,     31,      100,       4080,      4095,      4096,
                             16'380, 16'384, 16'500, 32'768, 300'000, 1'048'560, 1'048'576, 1'048'640, 5'000'000};

TEST(WithSerializer, BytesAreTheLibrarys) {
  for (size_t size : kSizes) {
    const EchoRequest message = Message(size);
    grpc::ByteBuffer bytes = Serialized(Serializer::kReusingBuffers, message);
    EXPECT_TRUE(BytesOf(bytes) == message.SerializeAsString()) << size;
    EchoRequest parsed = Message(7);  // what was in it before is gone
    ASSERT_TRUE(Parse(Serializer::kReusingBuffers, &bytes, &parsed).ok()) << size;
    EXPECT_TRUE(parsed.payload() == message.payload()) << size;
    EXPECT_FALSE(bytes.Valid()) << "as with the library";
  }
}

TEST(WithSerializer, SeveralPiecesAreOneMessage) {
  const std::string all = Message(1000).SerializeAsString();
  const grpc::Slice slices[] = {grpc::Slice(all.substr(0, 333)), grpc::Slice(all.substr(333))};
  for (Serializer serializer : {Serializer::kProtobuf, Serializer::kReusingBuffers}) {
    grpc::ByteBuffer bytes(slices, 2);
    EchoRequest parsed;
    EXPECT_TRUE(Parse(serializer, &bytes, &parsed).ok());
    EXPECT_EQ(parsed.payload().size(), 1000u);
  }
}

TEST(WithSerializer, WhatIsNoMessageIsRefusedByBothCodecs) {
  const std::string all = Message(1000).SerializeAsString();
  for (const std::string& bad :
       {all.substr(0, 999), std::string("\x0f\xff\xff"), std::string("\x02\xff"), std::string("\xff")}) {
    for (Serializer serializer : {Serializer::kProtobuf, Serializer::kReusingBuffers}) {
      const grpc::Slice slice(bad);
      grpc::ByteBuffer bytes(&slice, 1);
      EchoRequest parsed;
      EXPECT_EQ(Parse(serializer, &bytes, &parsed).error_code(), grpc::StatusCode::INTERNAL) << ToString(serializer);
    }
  }
}

TEST(WithSerializer, TraitsUseTheCodecAndTimeASample) {
  using Traits = grpc::SerializationTraits<WithSerializer>;
  SerializerTimes& times = SerializerTimes::OfClient();
  for (Serializer serializer : {Serializer::kProtobuf, Serializer::kReusingBuffers}) {
    times.Switch(true);
    RunConfig config;
    config.messages = MessageStrategy::kArena;
    config.serializer = serializer;
    MessageSupply<WithSerializer> supply(MessageMethodOf(FindMethod("echo", "unary")->id).requests(config));
    for (uint32_t i = 0; i < 10 * SerializerTimes::kEvery; ++i) {
      WithSerializer& message = supply.Next();
      auto& request = static_cast<EchoRequest&>(*message.message);
      request.set_response_bytes(77);
      grpc::ByteBuffer bytes;
      bool own = false;
      ASSERT_TRUE(Traits::Serialize(message, &bytes, &own).ok());
      EXPECT_TRUE(own);
      ASSERT_TRUE(Traits::Deserialize(&bytes, &message).ok());
      EXPECT_EQ(request.response_bytes(), 77u);
    }
    times.Switch(false);
    EXPECT_EQ(times.serialize().Snapshot().Count(), 10u);
    EXPECT_EQ(times.parse().Snapshot().Count(), 10u);
  }
}

TEST(SlicePool, SlicesInUseDoNotOverlap) {
  std::vector<grpc::Slice> slices;
  for (int i = 0; i < 2000; ++i) {
    slices.push_back(SlicePool::Make(50 + static_cast<size_t>(i % 100)));
    std::fill_n(SlicePool::BytesOf(slices.back()), slices.back().size(), static_cast<uint8_t>(i));
  }
  for (int i = 0; i < 2000; ++i) {
    const grpc::Slice& slice = slices[static_cast<size_t>(i)];
    ASSERT_EQ(slice.size(), 50 + static_cast<size_t>(i % 100));
    ASSERT_EQ(std::string(slice.begin(), slice.end()), std::string(slice.size(), static_cast<char>(i))) << i;
  }
}

TEST(SlicePool, MemoryIsUsedAgain) {
  for (size_t size : {size_t{60}, size_t{4096}, size_t{16'388}, size_t{100'000}, size_t{1} << 20}) {
    // Small messages until the second buffer is cut: only then does the pool free the first.
    for (int warm = 0; warm < 1000; ++warm) SlicePool::Make(size);
    const uint64_t before = SlicePool::Allocated();
    for (int i = 0; i < 10'000; ++i) SlicePool::Make(size);
    EXPECT_EQ(SlicePool::Allocated(), before) << size;
  }
}

// One thread writes, and another sees the messages sent: one lacks the memory that the other has too much of.
TEST(SlicePool, MemoryComesBackFromAnotherThread) {
  constexpr size_t kSize = 20'000;
  const auto pass = [&] {
    std::vector<grpc::Slice> slices;
    for (int i = 0; i < 200; ++i) slices.push_back(SlicePool::Make(kSize));
    std::thread([&] { slices.clear(); }).join();
  };
  for (int warm = 0; warm < 3; ++warm) pass();
  const uint64_t before = SlicePool::Allocated();
  for (int round = 0; round < 20; ++round) pass();
  EXPECT_EQ(SlicePool::Allocated(), before);
}

TEST(SlicePool, ManyThreadsPassSlicesOn) {
  constexpr int kThreads = 4, kRounds = 300;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < kRounds; ++round) {
        std::vector<grpc::Slice> slices;
        for (size_t size : {size_t{40}, size_t{3000}, size_t{9000}, size_t{40'000}}) {
          slices.push_back(SlicePool::Make(size));
          std::fill_n(SlicePool::BytesOf(slices.back()), size, static_cast<uint8_t>(t));
        }
        std::thread([t, given = std::move(slices)] {
          for (const grpc::Slice& slice : given) {
            EXPECT_EQ(std::string(slice.begin(), slice.end()), std::string(slice.size(), static_cast<char>(t)));
          }
        }).join();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The store keeps a fixed maximum, however much was in flight at once.
TEST(SlicePool, WhatIsKeptIsBounded) {
  constexpr size_t kSize = SlicePool::kMaxPooled;
  const uint64_t allocated = SlicePool::Allocated(), freed = SlicePool::Freed();
  std::thread([] {
    std::vector<grpc::Slice> slices;
    for (size_t i = 0; i < 2 * SlicePool::kMaxStored / kSize; ++i) slices.push_back(SlicePool::Make(kSize));
  }).join();
  const uint64_t held = (SlicePool::Allocated() - allocated) - (SlicePool::Freed() - freed);
  EXPECT_LE(held * kSize, SlicePool::kMaxStored);
  EXPECT_GT(SlicePool::Freed(), freed);
}

}  // namespace
}  // namespace cqbench
