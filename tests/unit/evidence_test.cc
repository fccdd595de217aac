// Figures that follow from pairs of made-up samples, by hand.
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
  SetDistribution("client_rtt_min_ns", {5, 1, 3}, figures);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_min"), 1);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_median"), 3);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_max"), 5);
  SetDistribution("client_rtt_min_ns", {8, 2, 4, 1}, figures);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_median"), 3);
  SetDistribution("client_rtt_min_ns", {7}, figures);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_min"), 7);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_median"), 7);
  EXPECT_EQ(figures.Get("client_rtt_min_ns_max"), 7);
}

TEST(SetDistribution, OfNothingIsNothing) {
  Figures figures;
  SetDistribution("client_rtt_min_ns", {}, figures);
  EXPECT_TRUE(figures.empty());
}

class CpuFigures : public Evidence {};

TEST_F(CpuFigures, AreScaledToTheWindow) {
  Have("process { user_ns: 1000 system_ns: 300 }", "process { user_ns: 5000 system_ns: 400 }");
  AddCpuFigures(Side::kClient, begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("client_cpu_user_ns"), 2'000);
  EXPECT_EQ(Get("client_cpu_system_ns"), 50);
}

// As sampled from another process: the total is exact, its parts are not.
TEST_F(CpuFigures, AreNoLessThanNothingWhereOnePartShrinks) {
  Have("process { user_ns: 1000 system_ns: 5000 }", "process { user_ns: 8000 system_ns: 2000 }");
  AddCpuFigures(Side::kServer, begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_cpu_user_ns"), 2'000);
  EXPECT_EQ(Get("server_cpu_system_ns"), 0);
}

TEST_F(CpuFigures, NeedTimeBetweenTheSamples) {
  end_.set_taken_at_ns(begin_.taken_at_ns());
  AddCpuFigures(Side::kClient, begin_, end_, kMeasured, figures_);
  AddProcessFigures(Side::kClient, begin_, end_, kMeasured, figures_);
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_TRUE(figures_.empty());
}

class ProcessFigures : public Evidence {
 protected:
  void Add(Measured measured = kMeasured) { AddProcessFigures(Side::kServer, begin_, end_, measured, figures_); }
};

TEST_F(ProcessFigures, RelateTotalsToTheTimeAndTheCallsOfTheWindow) {
  Have(R"(process { user_ns: 100 system_ns: 50 voluntary_switches: 10 involuntary_switches: 1000 minor_faults: 5
                    rss_bytes: 77 peak_rss_bytes: 88 })",
       R"(process { user_ns: 2000000100 system_ns: 1000000050 voluntary_switches: 4010 involuntary_switches: 1200
                    minor_faults: 65 major_faults: 8 rss_bytes: 4096 peak_rss_bytes: 8192 }
          cpus {} cpus {} cpus {} cpus {})");
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
  end_.mutable_process()->set_user_ns(kNanosPerSecond);
  Add({kNanosPerSecond, 0});
  EXPECT_EQ(Get("server_cores_used"), 0.5);
  for (const auto& [name, value] : figures_) EXPECT_THAT(name, testing::Not(HasSubstr("per_rpc")));
}

TEST_F(ProcessFigures, AddUpTheThreadsOfEachGroup) {
  Have(R"(threads { id: 1 group: OTHER } threads { id: 2 group: WORKER cpu_ns: 1000 } threads { id: 3 group: WORKER }
          threads { id: 4 cpu_ns: 7 } threads { id: 5 })",
       R"(threads { id: 1 group: OTHER cpu_ns: 40 } threads { id: 2 group: WORKER cpu_ns: 1000001000 }
          threads { id: 3 group: WORKER cpu_ns: 500000000 } threads { id: 4 cpu_ns: 607 } threads { id: 5 }
          process { user_ns: 1500000040 system_ns: 600 })");
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

TEST_F(ProcessFigures, GroupsOfANewerServerAreTheLibrarys) {
  Have("threads { id: 1 }", "threads { id: 1 }");
  end_.mutable_threads(0)->set_group(static_cast<ThreadSample::Group>(17));
  Add();
  EXPECT_EQ(Get("server_threads_library"), 1);
}

TEST_F(ProcessFigures, WithoutWorkersHaveNoShareOfThem) {
  Have("threads { id: 1 group: OTHER }", "threads { id: 1 group: OTHER }");
  Add();
  EXPECT_EQ(Get("server_threads_workers"), 0);
  EXPECT_EQ(Get("server_cpu_workers_ns"), 0);
  EXPECT_EQ(Get("server_busiest_worker_share"), std::nullopt);
  EXPECT_EQ(Get("server_workers_busy_share"), std::nullopt);
}

TEST_F(ProcessFigures, CountOurThreadsThatStartedInBetweenFromZero) {
  Have(R"(threads { id: 1 group: OTHER } threads { id: 2 group: WORKER cpu_ns: 50 }
          threads { id: 3 group: WORKER cpu_ns: 9000 } threads { id: 4 group: OTHER cpu_ns: 8000 })",
       R"(threads { id: 1 group: OTHER } threads { id: 2 group: WORKER cpu_ns: 150 }
          threads { id: 5 group: WORKER cpu_ns: 7000 } threads { id: 6 group: OTHER cpu_ns: 6000 })");
  Add();
  EXPECT_EQ(Get("server_cpu_workers_ns"), 3'550) << "nothing of those that have ended";
  EXPECT_EQ(Get("server_cpu_other_threads_ns"), 3'000);
  EXPECT_EQ(Get("server_threads_workers"), 2) << "those at the end";
}

TEST_F(ProcessFigures, WhatIsNotOursIsTheLibrarysEvenOfThreadsThatHaveEnded) {
  Have(R"(threads { id: 1 group: OTHER } threads { id: 2 group: WORKER cpu_ns: 50 } threads { id: 3 cpu_ns: 9000 })",
       R"(threads { id: 1 group: OTHER cpu_ns: 100 } threads { id: 2 group: WORKER cpu_ns: 250 }
          threads { id: 4 cpu_ns: 7000 } process { user_ns: 20000 system_ns: 300 })");
  Add();
  EXPECT_EQ(Get("server_cpu_library_ns"), 10'000);
  EXPECT_EQ(Get("server_threads_library"), 1) << "those at the end";
  end_.clear_process();
  Add();
  EXPECT_EQ(Get("server_cpu_library_ns"), 0) << "the process's total lags behind a little";
}

TEST_F(ProcessFigures, CpusAreNeitherBusyWithSoftInterruptsNorWhenStolen) {
  Have("cpus { busy_ns: 10 idle_ns: 20 softirq_ns: 30 steal_ns: 40 } cpus { cpu: 1 } cpus { cpu: 2 }",
       R"(cpus { busy_ns: 1000000010 idle_ns: 1000000020 softirq_ns: 500000030 steal_ns: 1000000040 }
          cpus { cpu: 1 busy_ns: 500000000 idle_ns: 1000000000 } cpus { cpu: 3 busy_ns: 1000000000 })");
  Add();
  EXPECT_EQ(Get("server_cpus_busy"), 0.75) << "CPU 3 is in one sample only";
  EXPECT_EQ(Get("server_cpus_allowed"), 3);
}

class AllocationFigures : public Evidence {
 protected:
  AllocationFigures() {
    SetCounts({100, 1'000, 10}, begin_);
    SetCounts({100 + 500, 1'000 + 64'000, 10 + 25}, end_);
  }
};

TEST_F(AllocationFigures, ArePerCall) {
  AddAllocationFigures(Side::kClient, begin_, end_, 50, figures_);
  EXPECT_EQ(Get("client_allocations_per_rpc"), 10);
  EXPECT_EQ(Get("client_allocated_bytes_per_rpc"), 1280);
  EXPECT_EQ(Get("client_frees_elsewhere_per_rpc"), 0.5);
}

// The sampling itself took a little more when it was counted alone.
TEST_F(AllocationFigures, AreNotBelowZero) {
  AddAllocationFigures(Side::kClient, end_, begin_, 50, figures_);
  EXPECT_EQ(Get("client_allocations_per_rpc"), 0);
  EXPECT_EQ(Get("client_allocated_bytes_per_rpc"), 0);
  EXPECT_EQ(Get("client_frees_elsewhere_per_rpc"), 0);
}

TEST_F(AllocationFigures, AreNoneWithoutCallsOrCounts) {
  AddAllocationFigures(Side::kClient, begin_, end_, 0, figures_);
  begin_.clear_allocations();
  AddAllocationFigures(Side::kClient, begin_, end_, 50, figures_);
  AddAllocationFigures(Side::kClient, end_, begin_, 50, figures_);
  EXPECT_TRUE(figures_.empty());
}

class ServerFigures : public Evidence {};

TEST_F(ServerFigures, AreCallsScaledToTheWindowAndWhatIsPosted) {
  Have("messages: 300 posted_requests: 5 messages_per_queue: [100, 200, 0]",
       "messages: 2300 posted_requests: 1000 messages_per_queue: [900, 1200, 200]");
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_rpcs"), 1000);
  EXPECT_EQ(Get("server_rpcs_per_queue_min"), 100);
  EXPECT_EQ(Get("server_rpcs_per_queue_median"), 400);
  EXPECT_EQ(Get("server_rpcs_per_queue_max"), 500);
  EXPECT_EQ(Get("server_posted_requests"), 1000);
}

TEST_F(ServerFigures, OfServersWithoutQueuesAreTheCallsAlone) {
  end_.set_messages(10);
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_rpcs"), 5);
  EXPECT_EQ(Get("server_rpcs_per_queue_median"), std::nullopt);
  EXPECT_EQ(Get("server_posted_requests"), std::nullopt);
}

TEST_F(ServerFigures, QueuesThatChangedTheirNumberAreNotCompared) {
  Have("messages_per_queue: [1]", "messages_per_queue: [5, 6]");
  AddServerFigures(begin_, end_, kMeasured, figures_);
  EXPECT_EQ(Get("server_rpcs_per_queue_median"), std::nullopt);
}

TEST(CompareCpus, GivesSharesOfTheTimeOfEachCpu) {
  const auto begin =
      FromText<Sample>("cpus { busy_ns: 100 idle_ns: 200 softirq_ns: 300 steal_ns: 400 } cpus { cpu: 3 }");
  const auto end =
      FromText<Sample>("cpus { busy_ns: 150 idle_ns: 225 softirq_ns: 315 steal_ns: 410 } cpus { cpu: 3 idle_ns: 80 }");
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
  const auto begin = FromText<Sample>("cpus { busy_ns: 5 idle_ns: 5 softirq_ns: 5 steal_ns: 5 } cpus { cpu: 1 }");
  const auto end =
      FromText<Sample>("cpus { busy_ns: 5 idle_ns: 5 softirq_ns: 5 steal_ns: 5 } cpus { cpu: 2 busy_ns: 9 }");
  EXPECT_THAT(CompareCpus(begin, end), IsEmpty());
}

TEST(CongestionControl, NamesEachAlgorithmOnce) {
  Sample sample;
  EXPECT_EQ(CongestionControl(sample), "");
  for (int i = 0; i < 3; ++i) sample.add_connections()->set_congestion_control("reno");
  EXPECT_EQ(CongestionControl(sample), "reno");
  sample.mutable_connections(1)->set_congestion_control("cubic");
  EXPECT_EQ(CongestionControl(sample), "cubic, reno");
}

}  // namespace
}  // namespace cqbench
