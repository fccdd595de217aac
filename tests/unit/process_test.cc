#include "cqbench/process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <thread>

namespace cqbench {
namespace {

Nanos ThreadCpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

void BurnCpu(Nanos amount) {
  for (const Nanos end = ThreadCpu() + amount; ThreadCpu() < end;) {
  }
}

Nanos Total(const CpuTime& t) {
  return t.user_ns + t.system_ns;
}

TEST(ReadCpuTime, GrowsByTheCpuThatWasBurnt) {
  const CpuTime before = ReadCpuTime();
  BurnCpu(40 * kNanosPerMilli);
  const CpuTime after = ReadCpuTime();
  // The kernel hands out microseconds, once for each of the four figures.
  EXPECT_GE(Total(after) - Total(before), 40 * kNanosPerMilli - 4 * kNanosPerMicro);
  EXPECT_GE(after.taken_at_ns - before.taken_at_ns, 40 * kNanosPerMilli - kNanosPerMilli);
}

TEST(ReadCpuTime, CountsThreadsThatHaveEnded) {
  const CpuTime before = ReadCpuTime();
  std::thread([] { BurnCpu(20 * kNanosPerMilli); }).join();
  EXPECT_GE(Total(ReadCpuTime()) - Total(before), 20 * kNanosPerMilli - 4 * kNanosPerMicro);
}

TEST(AllowedCpus, AreAtLeastOneAscendingAndUnique) {
  const std::vector<int> cpus = AllowedCpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_GE(cpus.front(), 0);
  EXPECT_EQ(std::adjacent_find(cpus.begin(), cpus.end(), [](int a, int b) { return a >= b; }), cpus.end());
}

TEST(FormatCpuList, JoinsNeighboursToRanges) {
  EXPECT_EQ(FormatCpuList({}), "");
  EXPECT_EQ(FormatCpuList({0}), "0");
  EXPECT_EQ(FormatCpuList({0, 1}), "0-1");
  EXPECT_EQ(FormatCpuList({0, 2}), "0,2");
  EXPECT_EQ(FormatCpuList({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(FormatCpuList({5, 7, 8, 9, 11, 12}), "5,7-9,11-12");
  EXPECT_EQ(FormatCpuList({1023, 1024}), "1023-1024");
}

TEST(RaiseDescriptorLimit, RaisesTheSoftLimitToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit lowered = before;
  lowered.rlim_cur = std::min<rlim_t>(before.rlim_max, 256);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lowered), 0);

  EXPECT_EQ(RaiseDescriptorLimit(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_EQ(RaiseDescriptorLimit(), before.rlim_max) << "a second time changes nothing";
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace cqbench
