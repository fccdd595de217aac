// What goes through the control service comes out as it was.
#include "src/observe/control/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Through the bytes on the wire.
Sample RoundTrip(const Sample& sample) {
  control::v1::ServerSample sent, received;
  ToProto(sample, sent);
  EXPECT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  return FromProto(received);
}

control::v1::Histogram Message(const std::vector<Nanos>& values, const std::vector<uint64_t>& counts) {
  control::v1::Histogram message;
  for (Nanos value : values) message.add_value_ns(value);
  for (uint64_t count : counts) message.add_count(count);
  return message;
}

std::vector<std::pair<Nanos, uint64_t>> BucketsOf(const Histogram& h) {
  std::vector<std::pair<Nanos, uint64_t>> buckets;
  h.ForEach([&](Nanos value, uint64_t count) { buckets.emplace_back(value, count); });
  return buckets;
}

// Every number is another one, and some need 64 bits.
TEST(SampleCodec, KeepsEveryField) {
  constexpr uint64_t kLarge = uint64_t{1} << 60;
  Sample sample;
  sample.taken_at_ns = INT64_MAX - 1;
  sample.process = {1, 2, kLarge + 3, 4, 5, 6, kLarge + 7, 8};
  sample.threads = {{10, ThreadGroup::kWorker, 11}, {12, ThreadGroup::kOther, 13}, {14, ThreadGroup::kLibrary, 15}};
  sample.cpus = {{20, 21, 22, 23, 24}, {25, 26, 27, 28, 29}};
  sample.connections = {{kLarge + 30, 31, 32, 33, 34, kLarge + 35, 36, 37, 38, 39, true, "cubic"},
                        {40, 41, 42, 43, 44, 45, 46, 47, 48, 49, false, ""}};
  sample.unix_connections = 50;
  sample.allocations = AllocationCounts{51, kLarge + 52};
  sample.messages = kLarge + 53;
  sample.posted_requests = -54;
  sample.messages_per_queue = {55, 0, kLarge + 56};

  const Sample got = RoundTrip(sample);
  EXPECT_EQ(got.taken_at_ns, INT64_MAX - 1);
  EXPECT_EQ(got.process.user_ns, 1);
  EXPECT_EQ(got.process.system_ns, 2);
  EXPECT_EQ(got.process.voluntary_switches, kLarge + 3);
  EXPECT_EQ(got.process.involuntary_switches, 4u);
  EXPECT_EQ(got.process.minor_faults, 5u);
  EXPECT_EQ(got.process.major_faults, 6u);
  EXPECT_EQ(got.process.rss_bytes, kLarge + 7);
  EXPECT_EQ(got.process.peak_rss_bytes, 8u);
  ASSERT_EQ(got.threads.size(), 3u);
  for (size_t i = 0; i < got.threads.size(); ++i) {
    EXPECT_EQ(got.threads[i].id, sample.threads[i].id);
    EXPECT_EQ(got.threads[i].group, sample.threads[i].group);
    EXPECT_EQ(got.threads[i].cpu_ns, sample.threads[i].cpu_ns);
  }
  ASSERT_EQ(got.cpus.size(), 2u);
  EXPECT_EQ(got.cpus[0].cpu, 20);
  EXPECT_EQ(got.cpus[0].busy_ns, 21);
  EXPECT_EQ(got.cpus[0].idle_ns, 22);
  EXPECT_EQ(got.cpus[0].softirq_ns, 23);
  EXPECT_EQ(got.cpus[0].steal_ns, 24);
  EXPECT_EQ(got.cpus[1].cpu, 25);
  ASSERT_EQ(got.connections.size(), 2u);
  const ConnectionSample& c = got.connections[0];
  EXPECT_EQ(c.id, kLarge + 30);
  EXPECT_EQ(c.taken_at_ns, 31);
  EXPECT_EQ(c.busy_ns, 32);
  EXPECT_EQ(c.segments_sent, 33u);
  EXPECT_EQ(c.segments_received, 34u);
  EXPECT_EQ(c.bytes_sent, kLarge + 35);
  EXPECT_EQ(c.bytes_received, 36u);
  EXPECT_EQ(c.retransmissions, 37u);
  EXPECT_EQ(c.rtt_smoothed_ns, 38);
  EXPECT_EQ(c.rtt_min_ns, 39);
  EXPECT_TRUE(c.no_delay);
  EXPECT_EQ(c.congestion_control, "cubic");
  EXPECT_EQ(got.connections[1].id, 40u);
  EXPECT_FALSE(got.connections[1].no_delay);
  EXPECT_EQ(got.unix_connections, 50);
  ASSERT_TRUE(got.allocations.has_value());
  EXPECT_EQ(got.allocations->allocations, 51u);
  EXPECT_EQ(got.allocations->bytes, kLarge + 52);
  EXPECT_EQ(got.messages, kLarge + 53);
  EXPECT_EQ(got.posted_requests, -54);
  EXPECT_THAT(got.messages_per_queue, ElementsAre(55u, 0u, kLarge + 56));
}

TEST(SampleCodec, WhatIsAbsentStaysAbsent) {
  const Sample got = RoundTrip(Sample());
  EXPECT_FALSE(got.allocations.has_value());
  EXPECT_FALSE(got.posted_requests.has_value());
  EXPECT_THAT(got.messages_per_queue, IsEmpty());
  EXPECT_THAT(got.threads, IsEmpty());
  EXPECT_THAT(got.connections, IsEmpty());
}

TEST(SampleCodec, ZeroIsNotAbsent) {
  Sample sample;
  sample.allocations.emplace();
  sample.posted_requests = 0;
  const Sample got = RoundTrip(sample);
  EXPECT_TRUE(got.allocations.has_value());
  EXPECT_EQ(got.posted_requests, 0);
}

TEST(SampleCodec, ThreadGroupOfANewerServerIsTheLibrarys) {
  control::v1::ServerSample message;
  message.add_threads()->set_group(static_cast<control::v1::Thread::Group>(17));
  EXPECT_EQ(FromProto(message).threads.at(0).group, ThreadGroup::kLibrary);
}

TEST(HistogramCodec, KeepsEveryBucket) {
  Histogram histogram;
  for (Nanos value : {Nanos{0}, Nanos{3}, Nanos{3}, Nanos{5'000'123}, 2 * Histogram::kMaxTrackableNs}) {
    histogram.Record(value);
  }
  histogram.Record(70'000, uint64_t{1} << 40);
  control::v1::Histogram sent, received;
  ToProto(histogram, sent);
  EXPECT_EQ(sent.value_ns_size(), 5) << "empty buckets do not travel";
  ASSERT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  EXPECT_EQ(BucketsOf(FromProto(received)), BucketsOf(histogram));
  EXPECT_EQ(FromProto(received).Count(), histogram.Count());
}

TEST(HistogramCodec, EmptyStaysEmpty) {
  control::v1::Histogram message;
  ToProto(Histogram(), message);
  EXPECT_EQ(message.value_ns_size(), 0);
  EXPECT_EQ(message.count_size(), 0);
  EXPECT_EQ(FromProto(message).Count(), 0u);
}

// Which no caller gets that far: see PlausibleHistogram.
TEST(HistogramCodec, ValuesAndCountsWithoutAPartnerAreLeftOut) {
  EXPECT_THAT(BucketsOf(FromProto(Message({1, 2, 3}, {10, 20}))), ElementsAre(Pair(1, 10u), Pair(2, 20u)));
  EXPECT_THAT(BucketsOf(FromProto(Message({1}, {10, 20}))), ElementsAre(Pair(1, 10u)));
  EXPECT_THAT(BucketsOf(FromProto(Message({}, {10}))), IsEmpty());
}

TEST(HistogramCodec, CountsOfZeroAreLeftOut) {
  const Histogram got = FromProto(Message({1, 5, 9}, {0, 2, 0}));
  EXPECT_EQ(got.Count(), 2u);
  EXPECT_EQ(got.Min(), 5);
  EXPECT_EQ(got.Max(), 5);
}

TEST(HistogramCodec, ValuesThatNoServerSendsDoNoHarm) {
  EXPECT_THAT(BucketsOf(FromProto(Message({-5, INT64_MIN}, {2, 3}))), ElementsAre(Pair(0, 5u)));
  EXPECT_THAT(BucketsOf(FromProto(Message({7, 7, 2}, {1, 1, 1}))), ElementsAre(Pair(2, 1u), Pair(7, 2u)));
  EXPECT_EQ(FromProto(Message({INT64_MAX}, {1})).Max(), INT64_MAX);
}

}  // namespace
}  // namespace cqbench
