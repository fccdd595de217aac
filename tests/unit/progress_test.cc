// The progress line on the terminal.
#include "src/cli/client/progress.h"

#include <gtest/gtest.h>

namespace cqbench {
namespace {

ProgressUpdate Update(const Load& load) {
  ProgressUpdate update;
  update.point = 1;
  update.points = 2;
  update.load = load;
  update.elapsed_ns = 200 * kNanosPerMilli;
  update.length_ns = 3 * kNanosPerSecond;
  return update;
}

TEST(DescribeProgress, OfAClosedLoop) {
  ProgressUpdate update = Update({4, 0});
  EXPECT_EQ(DescribeProgress(update), "[1/2] in-flight 4, warming up 0.2/3.0 s");
  update.measuring = true;
  update.rate_per_second = 12345.4;
  EXPECT_EQ(DescribeProgress(update), "[1/2] in-flight 4, measuring 0.2/3.0 s, 12345 req/s");
}

TEST(DescribeProgress, OfAnOpenLoopSaysWhatWasSentAndWhatWaits) {
  ProgressUpdate update = Update({100, 2000});
  update.sent = 400;
  update.behind = 7;
  EXPECT_EQ(DescribeProgress(update), "[1/2] rate 2000/s, warming up 0.2/3.0 s, 400 sent, 7 behind");
  update.measuring = true;
  update.rate_per_second = 1990;
  EXPECT_EQ(DescribeProgress(update), "[1/2] rate 2000/s, measuring 0.2/3.0 s, 1990 req/s, 400 sent, 7 behind");
}

TEST(DescribeProgress, CountsFailedCalls) {
  ProgressUpdate update = Update({4, 0});
  update.measuring = true;
  update.rate_per_second = 100;
  update.failed = 3;
  EXPECT_EQ(DescribeProgress(update), "[1/2] in-flight 4, measuring 0.2/3.0 s, 100 req/s, 3 failed");
}

// A search does not know how many points it will take.
TEST(DescribeProgress, WithoutANumberOfPoints) {
  ProgressUpdate update = Update({100, 0.5});
  update.point = 17;
  update.points = 0;
  EXPECT_EQ(DescribeProgress(update), "[17] rate 0.5/s, warming up 0.2/3.0 s, 0 sent, 0 behind");
}

}  // namespace
}  // namespace cqbench
