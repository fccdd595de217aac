// Histograms come out of a message as they went in.
#include "src/result/histogram_message.h"

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

control::v1::Histogram MessageOf(const std::vector<Nanos>& values, const std::vector<uint64_t>& counts) {
  control::v1::Histogram message;
  for (Nanos value : values) message.add_value_ns(value);
  for (uint64_t count : counts) message.add_count(count);
  return message;
}

std::vector<std::pair<Nanos, uint64_t>> ContentsOf(const Histogram& h) {
  std::vector<std::pair<Nanos, uint64_t>> buckets;
  h.ForEach([&](Nanos value, uint64_t count) { buckets.emplace_back(value, count); });
  return buckets;
}

TEST(HistogramMessage, KeepsEveryBucket) {
  Histogram histogram;
  for (Nanos value : {Nanos{0}, Nanos{3}, Nanos{3}, Nanos{5'000'123}, 2 * Histogram::kMaxTrackableNs}) {
    histogram.Record(value);
  }
  histogram.Record(70'000, uint64_t{1} << 40);
  control::v1::Histogram sent, received;
  ToMessage(histogram, sent);
  EXPECT_EQ(sent.value_ns_size(), 5) << "empty buckets do not travel";
  ASSERT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  EXPECT_EQ(ContentsOf(FromMessage(received)), ContentsOf(histogram));
  EXPECT_EQ(FromMessage(received).Count(), histogram.Count());
}

TEST(HistogramMessage, EmptyStaysEmpty) {
  control::v1::Histogram message;
  ToMessage(Histogram(), message);
  EXPECT_EQ(message.value_ns_size(), 0);
  EXPECT_EQ(message.count_size(), 0);
  EXPECT_EQ(FromMessage(message).Count(), 0u);
}

// No caller gets that far: see PlausibleHistogram.
TEST(HistogramMessage, ValuesAndCountsWithoutAPartnerAreLeftOut) {
  EXPECT_THAT(ContentsOf(FromMessage(MessageOf({1, 2, 3}, {10, 20}))), ElementsAre(Pair(1, 10u), Pair(2, 20u)));
  EXPECT_THAT(ContentsOf(FromMessage(MessageOf({1}, {10, 20}))), ElementsAre(Pair(1, 10u)));
  EXPECT_THAT(ContentsOf(FromMessage(MessageOf({}, {10}))), IsEmpty());
}

TEST(HistogramMessage, CountsOfZeroAreLeftOut) {
  const Histogram got = FromMessage(MessageOf({1, 5, 9}, {0, 2, 0}));
  EXPECT_EQ(got.Count(), 2u);
  EXPECT_EQ(got.Min(), 5);
  EXPECT_EQ(got.Max(), 5);
}

TEST(HistogramMessage, ValuesThatNoServerSendsDoNoHarm) {
  EXPECT_THAT(ContentsOf(FromMessage(MessageOf({-5, INT64_MIN}, {2, 3}))), ElementsAre(Pair(0, 5u)));
  EXPECT_THAT(ContentsOf(FromMessage(MessageOf({7, 7, 2}, {1, 1, 1}))), ElementsAre(Pair(2, 1u), Pair(7, 2u)));
  EXPECT_EQ(FromMessage(MessageOf({INT64_MAX}, {1})).Max(), INT64_MAX);
}

}  // namespace
}  // namespace cqbench
