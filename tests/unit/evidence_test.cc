// Figures of pairs of made-up samples, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/observe/sampling/sample_figures.h"
#include "tests/unit/evidence_samples.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SetDistribution, IsLeastMiddleAndGreatest) {
  Figures figures;
  SetDistribution("odd", {5, 1, 3}, figures);
  EXPECT_EQ(figures.Get("odd_min"), 1);
  EXPECT_EQ(figures.Get("odd_median"), 3);
  EXPECT_EQ(figures.Get("odd_max"), 5);
  SetDistribution("even", {8, 2, 4, 1}, figures);
  EXPECT_EQ(figures.Get("even_median"), 3);
  SetDistribution("one", {7}, figures);
  EXPECT_EQ(figures.Get("one_min"), 7);
  EXPECT_EQ(figures.Get("one_median"), 7);
  EXPECT_EQ(figures.Get("one_max"), 7);
}

TEST(SetDistribution, OfNothingIsNothing) {
  Figures figures;
  SetDistribution("none", {}, figures);
  EXPECT_TRUE(figures.empty());
}

class CpuFigures : public Evidence {};

TEST_F(CpuFigures, AreScaledToTheWindow) {
  begin_.process.user_ns = 1'000;
  end_.process.user_ns = 5'000;
  begin_.process.system_ns = 300;
  end_.process.system_ns = 400;
  AddCpuFigures("client", begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("client_cpu_user_ns"), 2'000);
  EXPECT_EQ(Get("client_cpu_system_ns"), 50);
}

// As read of another process: the total is exact, its shares are not.
TEST_F(CpuFigures, AreNoLessThanNothingWhereOnePartShrinks) {
  begin_.process.user_ns = 1'000;
  end_.process.user_ns = 8'000;
  begin_.process.system_ns = 5'000;
  end_.process.system_ns = 2'000;
  AddCpuFigures("server", begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_cpu_user_ns"), 2'000);
  EXPECT_EQ(Get("server_cpu_system_ns"), 0);
}

TEST_F(CpuFigures, NeedTimeBetweenTheSamples) {
  end_.taken_at_ns = begin_.taken_at_ns;
  AddCpuFigures("client", begin_, end_, kMeasured, figures_);
  AddProcessFigures("client", begin_, end_, kMeasured, figures_);
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_TRUE(figures_.empty());
}

class ProcessFigures : public Evidence {
 protected:
  void Add(Measured measured = kMeasured) { AddProcessFigures("server", begin_, end_, measured, figures_); }
};

TEST_F(ProcessFigures, RelateTotalsToTheTimeAndTheCallsOfTheWindow) {
  begin_.process = {100, 50, 10, 1000, 5, 0, 77, 88};
  end_.process = {100 + 2 * kNanosPerSecond, 50 + kNanosPerSecond, 10 + 4000, 1000 + 200, 5 + 60, 8, 4096, 8192};
  end_.cpus.resize(4);
  Add();
  EXPECT_EQ(Get("server_cores_used"), 1.5);
  EXPECT_EQ(Get("server_cpus_allowed"), 4);
  EXPECT_EQ(Get("server_cpu_per_rpc_ns"), 1'500'000);
  EXPECT_EQ(Get("server_voluntary_context_switches_per_rpc"), 2);
  EXPECT_EQ(Get("server_involuntary_context_switches_per_rpc"), 0.1);
  EXPECT_EQ(Get("server_minor_page_faults"), 30);
  EXPECT_EQ(Get("server_major_page_faults"), 4);
  EXPECT_EQ(Get("server_rss_bytes"), 4096);
  EXPECT_EQ(Get("server_peak_rss_bytes"), 8192);
}

TEST_F(ProcessFigures, WithoutCallsNothingIsPerCall) {
  end_.process.user_ns = kNanosPerSecond;
  Add({kNanosPerSecond, 0});
  EXPECT_EQ(Get("server_cores_used"), 0.5);
  for (const auto& [name, value] : figures_) EXPECT_THAT(name, testing::Not(HasSubstr("per_rpc")));
}

TEST_F(ProcessFigures, AddUpTheThreadsOfEachGroup) {
  using enum ThreadGroup;
  begin_.threads = {{1, kOther, 0}, {2, kWorker, 1000}, {3, kWorker, 0}, {4, kLibrary, 7}, {5, kLibrary, 0}};
  end_.threads = {{1, kOther, 40},
                  {2, kWorker, 1000 + kNanosPerSecond},
                  {3, kWorker, kNanosPerSecond / 2},
                  {4, kLibrary, 7 + 600},
                  {5, kLibrary, 0}};
  end_.process.user_ns = 3 * kNanosPerSecond / 2 + 40;
  end_.process.system_ns = 600;
  Add();
  EXPECT_EQ(Get("server_threads"), 5);
  EXPECT_EQ(Get("server_threads_workers"), 2);
  EXPECT_EQ(Get("server_threads_library"), 2);
  EXPECT_EQ(Get("server_cpu_workers_ns"), 750e6);
  EXPECT_EQ(Get("server_cpu_library_ns"), 300);
  EXPECT_EQ(Get("server_cpu_other_threads_ns"), 20);
  EXPECT_EQ(Get("server_busiest_worker_share"), 0.5);
  EXPECT_EQ(Get("server_workers_busy_share"), 0.375);
}

TEST_F(ProcessFigures, WithoutWorkersHaveNoShareOfThem) {
  begin_.threads = end_.threads = {{1, ThreadGroup::kOther, 0}};
  Add();
  EXPECT_EQ(Get("server_threads_workers"), 0);
  EXPECT_EQ(Get("server_cpu_workers_ns"), 0);
  EXPECT_EQ(Get("server_busiest_worker_share"), std::nullopt);
  EXPECT_EQ(Get("server_workers_busy_share"), std::nullopt);
}

TEST_F(ProcessFigures, CountOurThreadsThatStartedInBetweenFromZero) {
  using enum ThreadGroup;
  begin_.threads = {{1, kOther, 0}, {2, kWorker, 50}, {3, kWorker, 9'000}, {4, kOther, 8'000}};
  end_.threads = {{1, kOther, 0}, {2, kWorker, 150}, {5, kWorker, 7'000}, {6, kOther, 6'000}};
  Add();
  EXPECT_EQ(Get("server_cpu_workers_ns"), 3'550) << "nothing of those that have ended";
  EXPECT_EQ(Get("server_cpu_other_threads_ns"), 3'000);
  EXPECT_EQ(Get("server_threads_workers"), 2) << "those at the end";
}

TEST_F(ProcessFigures, WhatIsNotOursIsTheLibrarysEvenOfThreadsThatHaveEnded) {
  using enum ThreadGroup;
  begin_.threads = {{1, kOther, 0}, {2, kWorker, 50}, {3, kLibrary, 9'000}};
  end_.threads = {{1, kOther, 100}, {2, kWorker, 250}, {4, kLibrary, 7'000}};
  end_.process.user_ns = 20'000;
  end_.process.system_ns = 300;
  Add();
  EXPECT_EQ(Get("server_cpu_library_ns"), 10'000);
  EXPECT_EQ(Get("server_threads_library"), 1) << "those at the end";
  end_.process = {};
  Add();
  EXPECT_EQ(Get("server_cpu_library_ns"), 0) << "the process's total lags behind a little";
}

TEST_F(ProcessFigures, CpusAreNeitherBusyWithSoftInterruptsNorWhenStolen) {
  begin_.cpus = {{0, 10, 20, 30, 40}, {1, 0, 0, 0, 0}, {2, 0, 0, 0, 0}};
  end_.cpus = {{0, 10 + kNanosPerSecond, 20 + kNanosPerSecond, 30 + kNanosPerSecond / 2, 40 + kNanosPerSecond},
               {1, kNanosPerSecond / 2, kNanosPerSecond, 0, 0},
               {3, kNanosPerSecond, 0, 0, 0}};
  Add();
  EXPECT_EQ(Get("server_cpus_busy"), 0.75) << "CPU 3 is in one sample only";
  EXPECT_EQ(Get("server_cpus_allowed"), 3);
}

class AllocationFigures : public Evidence {
 protected:
  AllocationFigures() {
    begin_.allocations = AllocationCounts{100, 1'000, 10};
    end_.allocations = AllocationCounts{100 + 500, 1'000 + 64'000, 10 + 25};
  }
};

TEST_F(AllocationFigures, ArePerCall) {
  AddAllocationFigures("client", begin_, end_, 50, figures_);
  EXPECT_EQ(Get("client_allocations_per_rpc"), 10);
  EXPECT_EQ(Get("client_allocated_bytes_per_rpc"), 1280);
  EXPECT_EQ(Get("client_frees_elsewhere_per_rpc"), 0.5);
}

// Where asking took a little more at the time that it was counted by itself.
TEST_F(AllocationFigures, AreNotBelowZero) {
  AddAllocationFigures("client", end_, begin_, 50, figures_);
  EXPECT_EQ(Get("client_allocations_per_rpc"), 0);
  EXPECT_EQ(Get("client_allocated_bytes_per_rpc"), 0);
  EXPECT_EQ(Get("client_frees_elsewhere_per_rpc"), 0);
}

TEST_F(AllocationFigures, AreNoneWithoutCallsOrCounts) {
  AddAllocationFigures("client", begin_, end_, 0, figures_);
  begin_.allocations.reset();
  AddAllocationFigures("client", begin_, end_, 50, figures_);
  AddAllocationFigures("client", end_, begin_, 50, figures_);
  EXPECT_TRUE(figures_.empty());
}

class ServerFigures : public Evidence {};

TEST_F(ServerFigures, AreCallsScaledToTheWindowAndWhatIsPosted) {
  begin_.messages = 300;
  end_.messages = 2300;
  begin_.posted_requests = 5;
  end_.posted_requests = 1000;
  begin_.messages_per_queue = {100, 200, 0};
  end_.messages_per_queue = {100 + 800, 200 + 1000, 200};
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_rpcs"), 1000);
  EXPECT_EQ(Get("server_rpcs_per_queue_min"), 100);
  EXPECT_EQ(Get("server_rpcs_per_queue_median"), 400);
  EXPECT_EQ(Get("server_rpcs_per_queue_max"), 500);
  EXPECT_EQ(Get("server_posted_requests"), 1000);
}

TEST_F(ServerFigures, OfServersWithoutQueuesAreTheCallsAlone) {
  end_.messages = 10;
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_rpcs"), 5);
  EXPECT_EQ(Get("server_rpcs_per_queue_median"), std::nullopt);
  EXPECT_EQ(Get("server_posted_requests"), std::nullopt);
}

TEST_F(ServerFigures, QueuesThatChangedTheirNumberAreNotCompared) {
  begin_.messages_per_queue = {1};
  end_.messages_per_queue = {5, 6};
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_rpcs_per_queue_median"), std::nullopt);
}

TEST(CompareCpus, GivesSharesOfTheTimeOfEachCpu) {
  Sample begin, end;
  begin.cpus = {{0, 100, 200, 300, 400}, {3, 0, 0, 0, 0}};
  end.cpus = {{0, 100 + 50, 200 + 25, 300 + 15, 400 + 10}, {3, 0, 80, 0, 0}};
  const std::vector<CpuShares> shares = CompareCpus(begin, end);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].cpu, 0);
  EXPECT_EQ(shares[0].busy, 0.5);
  EXPECT_EQ(shares[0].idle, 0.25);
  EXPECT_EQ(shares[0].softirq, 0.15);
  EXPECT_EQ(shares[0].steal, 0.1);
  EXPECT_EQ(shares[1].cpu, 3);
  EXPECT_EQ(shares[1].idle, 1);
}

TEST(CompareCpus, LeavesOutCpusInOneSampleOnlyAndThoseWithoutATick) {
  Sample begin, end;
  begin.cpus = {{0, 5, 5, 5, 5}, {1, 0, 0, 0, 0}};
  end.cpus = {{0, 5, 5, 5, 5}, {2, 9, 9, 9, 9}};
  EXPECT_THAT(CompareCpus(begin, end), IsEmpty());
}

TEST(CongestionControl, NamesEachAlgorithmOnce) {
  Sample sample;
  EXPECT_EQ(CongestionControl(sample), "");
  sample.connections.resize(3);
  for (ConnectionSample& connection : sample.connections) connection.congestion_control = "reno";
  EXPECT_EQ(CongestionControl(sample), "reno");
  sample.connections[1].congestion_control = "cubic";
  EXPECT_EQ(CongestionControl(sample), "cubic, reno");
}

}  // namespace
}  // namespace cqbench
