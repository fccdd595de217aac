#include "cqbench/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "src/result/figure_catalogue.h"

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
  figures.Set("server_rpcs", 1);
  figures.Set("client_cores_used", 2);
  figures.Set("client_threads", 3);
  EXPECT_THAT(Entries(figures),
              ElementsAre(Pair("server_rpcs", 1), Pair("client_cores_used", 2), Pair("client_threads", 3)));
}

TEST(Figures, SetAgainKeepTheirPlaceAndTakeTheNewValue) {
  Figures figures;
  figures.Set("server_rpcs", 1);
  figures.Set("client_cores_used", 2);
  figures.Set("server_rpcs", -4.5);
  EXPECT_THAT(Entries(figures), ElementsAre(Pair("server_rpcs", -4.5), Pair("client_cores_used", 2)));
}

TEST(FigureCatalogue, NamesEachFigureOnce) {
  std::set<std::string> names, titles;
  for (const Figure& figure : FigureCatalogue()) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
    EXPECT_TRUE(titles.insert(figure.title).second) << figure.name << ": " << figure.title;
    EXPECT_EQ(FindFigure(figure.name), &figure);
  }
  EXPECT_EQ(FindFigure("client_"), nullptr);
}

TEST(FigureCatalogue, SaysTheUnitInTheName) {
  for (const Figure& figure : FigureCatalogue()) {
    const bool time = figure.kind == FigureKind::kNanoseconds || figure.kind == FigureKind::kOffset;
    EXPECT_EQ(figure.unit == "ns", time) << figure.name;
    EXPECT_EQ(absl::StrContains(figure.name, "_ns"), time) << figure.name;
    EXPECT_EQ(absl::StrContains(figure.name, "_share"),
              figure.kind == FigureKind::kShare || figure.kind == FigureKind::kRatio)
        << figure.name;
    EXPECT_EQ(figure.description.back(), '.') << figure.name;
  }
}

TEST(FigureCatalogue, HasThreeFiguresForADistributionAndForTimes) {
  EXPECT_EQ(FindFigure("client_rtt_min_ns"), nullptr);
  EXPECT_EQ(FindFigure("client_rtt_min_ns_min")->merge, MergeRule::kMin);
  EXPECT_EQ(FindFigure("server_rtt_min_ns_max")->merge, MergeRule::kMax);
  EXPECT_EQ(FindFigure("client_rtt_min_ns_median")->merge, MergeRule::kMedian);
  EXPECT_EQ(FindFigure("client_rtt_min_ns_median")->title, "client minimum RTT, median");
  EXPECT_EQ(FindFigure("breakdown_client_issue_samples")->kind, FigureKind::kCount);
  EXPECT_EQ(FindFigure("breakdown_client_issue_p99_ns")->kind, FigureKind::kNanoseconds);
}

TEST(FigureCatalogue, NamesTheSameFigureOfTheOtherEnd) {
  EXPECT_EQ(NameOf(Side::kClient, "client_cores_used"), "client_cores_used");
  EXPECT_EQ(NameOf(Side::kServer, "client_cores_used"), "server_cores_used");
  EXPECT_EQ(FindFigure("server_cores_used")->side, Side::kServer);
  EXPECT_EQ(FindFigure("breakdown_client_issue_share")->side, Side::kClient);
  EXPECT_EQ(FindFigure("chunks_per_second")->side, Side::kBoth);
}

}  // namespace
}  // namespace cqbench
