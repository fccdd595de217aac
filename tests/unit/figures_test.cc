#include "cqbench/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<Figures::Entry> Entries(const Figures& figures) {
  return {figures.begin(), figures.end()};
}

TEST(Figures, AreAbsentUntilSet) {
  Figures figures;
  EXPECT_TRUE(figures.empty());
  EXPECT_EQ(figures.Get("client_threads"), std::nullopt);
  figures.Set("client_threads", 0);
  EXPECT_FALSE(figures.empty());
  EXPECT_EQ(figures.Get("client_threads"), 0) << "zero is a value";
  EXPECT_EQ(figures.Get("client_thread"), std::nullopt) << "the whole name counts";
  EXPECT_EQ(figures.Get("client_threads_workers"), std::nullopt);
}

TEST(Figures, KeepTheOrderInWhichTheyWereSet) {
  Figures figures;
  figures.Set("z", 1);
  figures.Set("a", 2);
  figures.Set("m", 3);
  EXPECT_THAT(Entries(figures), ElementsAre(Pair("z", 1), Pair("a", 2), Pair("m", 3)));
}

TEST(Figures, SetAgainKeepTheirPlaceAndTakeTheNewValue) {
  Figures figures;
  figures.Set("z", 1);
  figures.Set("a", 2);
  figures.Set("z", -4.5);
  EXPECT_THAT(Entries(figures), ElementsAre(Pair("z", -4.5), Pair("a", 2)));
}

}  // namespace
}  // namespace cqbench
