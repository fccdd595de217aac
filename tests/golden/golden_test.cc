// Every output format, byte for byte.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "cqbench/reporter.h"
#include "tests/golden/samples.h"

namespace cqbench {
namespace {

struct Sample {
  const char* name;
  Result (*make)();
};

struct Reporter {
  const char* name;
  const char* extension;
  std::string (*format)(const Result&);
};

void PrintTo(const Sample& sample, std::ostream* os) {
  *os << sample.name;
}
void PrintTo(const Reporter& reporter, std::ostream* os) {
  *os << reporter.name;
}

class Golden : public testing::TestWithParam<std::tuple<Sample, Reporter>> {};

TEST_P(Golden, OutputIsAsExpected) {
  const auto& [sample, reporter] = GetParam();
  const std::string path = std::string(CQBENCH_GOLDEN_DIR) + "/" + sample.name + "." + reporter.extension;
  const std::string actual = reporter.format(sample.make());
  if (const char* update = std::getenv("CQBENCH_UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << actual;
    GTEST_SKIP() << "wrote " << path;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is not there; CQBENCH_UPDATE_GOLDEN=1 makes it";
  const std::string expected{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(actual, expected) << path;
}

INSTANTIATE_TEST_SUITE_P(
    Reports, Golden,
    testing::Combine(testing::Values(Sample{"sweep", SweepSample}, Sample{"repetitions", RepetitionsSample},
                                     Sample{"trouble", TroubleSample}, Sample{"evidence", EvidenceSample},
                                     Sample{"open", OpenLoopSample}, Sample{"queue", QueueSample},
                                     Sample{"censored", CensoredSample}, Sample{"found", FoundRateSample},
                                     Sample{"unresolved", UnresolvedRateSample}, Sample{"http", HttpSample},
                                     Sample{"empty", EmptySample}),
                     testing::Values(Reporter{"Table", "table.txt", FormatTable},
                                     Reporter{"SlotTable", "slots.txt", FormatSlotTable},
                                     Reporter{"PostCsv", "post.csv", FormatPostCsv}, Reporter{"Csv", "csv", FormatCsv},
                                     Reporter{"Json", "json", FormatJson},
                                     Reporter{"GoBench", "gobench.txt", FormatGoBench},
                                     Reporter{"Evidence", "evidence.txt", FormatEvidence},
                                     Reporter{"Extras", "extras.txt", FormatExtras})),
    [](const auto& param_info) {
      return std::string(std::get<0>(param_info.param).name) + "_" + std::get<1>(param_info.param).name;
    });

TEST(FormatResult, GoesToTheReporterOfTheFormat) {
  const Result result = SweepSample();
  EXPECT_EQ(FormatResult(result, Format::kTable), FormatTable(result));
  EXPECT_EQ(FormatResult(result, Format::kCsv), FormatCsv(result));
  EXPECT_EQ(FormatResult(result, Format::kJson), FormatJson(result));
  EXPECT_EQ(FormatResult(result, Format::kGoBench), FormatGoBench(result));
}

TEST(SeriesName, IsWhatStaysTheSameOverTheSweep) {
  EXPECT_EQ(SeriesName(SweepSample().context), "ping/unary/cq/local-pool");
  EXPECT_EQ(SeriesName(RepetitionsSample().context), "echo/streaming/cq/pool:4/arena/generic");
  EXPECT_EQ(SeriesName(HttpSample().context), "library/get/http1/local-pool");
  EXPECT_EQ(SeriesName(OpenLoopSample().context), "ping/unary/cq/shared/open");
  EXPECT_EQ(SeriesName(QueueSample().context), "ping/unary/cq/shared/bytes/open") << "bytes need the generic stub";
}

}  // namespace
}  // namespace cqbench
