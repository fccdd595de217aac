#include "src/observe/sampling/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <latch>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "src/observe/sampling/sample_figures.h"
#include "src/observe/sampling/take_sample.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Nanos ThreadCpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

void BurnCpu(Nanos amount) {
  for (const Nanos end = ThreadCpu() + amount; ThreadCpu() < end;) {
  }
}

Nanos Total(const ProcessSample& p) {
  return p.user_ns() + p.system_ns();
}

TEST(ReadProcess, CpuTimeGrowsByWhatWasBurnt) {
  const ProcessSample before = ReadProcess();
  BurnCpu(40 * kNanosPerMilli);
  const ProcessSample after = ReadProcess();
  // The kernel reports microseconds, and rounds each of the four figures.
  EXPECT_GE(Total(after) - Total(before), 40 * kNanosPerMilli - 4 * kNanosPerMicro);
}

TEST(ReadProcess, CountsThreadsThatHaveEnded) {
  const ProcessSample before = ReadProcess();
  std::thread([] { BurnCpu(20 * kNanosPerMilli); }).join();
  EXPECT_GE(Total(ReadProcess()) - Total(before), 20 * kNanosPerMilli - 4 * kNanosPerMicro);
}

TEST(ReadProcess, EverySleepIsAVoluntarySwitch) {
  constexpr int kSleeps = 20;
  const ProcessSample before = ReadProcess();
  for (int i = 0; i < kSleeps; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(ReadProcess().voluntary_switches() - before.voluntary_switches(), kSleeps);
}

TEST(ReadProcess, NewMemoryIsFaultsAndResidentBytes) {
  constexpr size_t kBytes = 32u << 20;
  const ProcessSample before = ReadProcess();
  std::vector<char> memory(kBytes, 1);
  const ProcessSample after = ReadProcess();
  EXPECT_EQ(memory[kBytes / 2], 1);
  EXPECT_GE(after.rss_bytes(), before.rss_bytes() + kBytes / 2);
  EXPECT_GE(after.peak_rss_bytes(), before.rss_bytes() + kBytes / 2);
  EXPECT_GT(after.minor_faults(), before.minor_faults());
}

TEST(GroupOfThread, IsKnownByTheNameThatWeGave) {
  for (const char* worker : {"sync-0", "cq-0", "cq-17", "http-0", "server-cq-0"}) {
    EXPECT_EQ(GroupOfThread(worker, false), ThreadSample::WORKER) << worker;
  }
  for (const char* other : {"control", "tcp-echo"}) {
    EXPECT_EQ(GroupOfThread(other, false), ThreadSample::OTHER) << other;
  }
  for (const char* library : {"", "grpc_global_tim", "event_engine", "my-cq-0", "cq", "grpcpp_sync_ser"}) {
    EXPECT_EQ(GroupOfThread(library, false), ThreadSample::LIBRARY) << library;
    EXPECT_EQ(GroupOfThread(library, true), ThreadSample::OTHER) << "as the main thread: " << library;
  }
}

// Threads with these names; each burns this much CPU time on request, and lives until destruction.
class NamedThreads {
 public:
  NamedThreads(const std::vector<std::string>& names, Nanos cpu)
      : started_(static_cast<std::ptrdiff_t>(names.size())), burnt_(static_cast<std::ptrdiff_t>(names.size())) {
    for (const std::string& name : names) {
      threads_.emplace_back([this, name, cpu] {
        pthread_setname_np(pthread_self(), name.c_str());
        started_.count_down();
        burn_.wait();
        BurnCpu(cpu);
        burnt_.count_down();
        end_.wait();
      });
    }
    started_.wait();
  }
  ~NamedThreads() {
    if (!burn_.try_wait()) burn_.count_down();
    end_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }
  void Burn() {
    burn_.count_down();
    burnt_.wait();
    // The kernel updates a thread's time when the thread goes to sleep.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

 private:
  std::latch started_, burnt_, burn_{1}, end_{1};
  std::vector<std::thread> threads_;
};

std::map<ThreadSample::Group, int> CountByGroup(const SampleList<ThreadSample>& threads) {
  std::map<ThreadSample::Group, int> counts;
  for (const ThreadSample& thread : threads) ++counts[thread.group()];
  return counts;
}

TEST(ReadThreads, GroupsThemByName) {
  std::thread([] {}).join();  // a sanitizer starts a thread of its own with the first one
  auto before = CountByGroup(ReadThreads());
  EXPECT_EQ(before[ThreadSample::OTHER], 1) << "the main thread";
  EXPECT_EQ(before[ThreadSample::WORKER], 0);
  {
    const NamedThreads threads({"sync-0", "cq-3", "server-cq-1", "control", "tcp-echo", "grpc_timer"}, 0);
    auto now = CountByGroup(ReadThreads());
    EXPECT_EQ(now[ThreadSample::WORKER], 3);
    EXPECT_EQ(now[ThreadSample::OTHER], 3);
    EXPECT_EQ(now[ThreadSample::LIBRARY], before[ThreadSample::LIBRARY] + 1);
  }
  EXPECT_EQ(CountByGroup(ReadThreads())[ThreadSample::WORKER], 0) << "they have ended";
}

TEST(ReadThreads, IdsAreTheKernels) {
  const auto ids = [] {
    std::vector<int> found;
    for (const ThreadSample& thread : ReadThreads()) found.push_back(thread.id());
    return found;
  };
  EXPECT_THAT(ids(), testing::Contains(getpid()));
  std::thread([&] { EXPECT_THAT(ids(), testing::Contains(gettid())); }).join();
}

TEST(ReadThreads, CpuTimesOfWorkersAreWhatTheyBurnt) {
  constexpr double kEach = 200e6;
  NamedThreads threads({"cq-0", "cq-1", "cq-2"}, static_cast<Nanos>(kEach));
  const Sample begin = TakeSample({});
  threads.Burn();
  const Sample end = TakeSample({});
  Figures figures;
  AddProcessFigures(Side::kClient, begin, end, {end.taken_at_ns() - begin.taken_at_ns(), 3}, figures);
  const auto get = [&](const char* name) { return figures.Get(name).value(); };
  EXPECT_EQ(get("client_threads_workers"), 3);
  EXPECT_NEAR(get("client_cpu_workers_ns"), 3 * kEach, 0.02 * 3 * kEach);
  EXPECT_NEAR(get("client_cpu_per_rpc_ns"), kEach, 0.02 * kEach) << "of the whole process";
  EXPECT_LE(get("client_cpu_other_threads_ns"), 0.02 * kEach) << "the main thread slept";
  const double length = static_cast<double>(end.taken_at_ns() - begin.taken_at_ns());
  EXPECT_NEAR(get("client_busiest_worker_share") * length, kEach, 0.02 * kEach);
  EXPECT_NEAR(get("client_workers_busy_share") * length, kEach, 0.02 * kEach);
  EXPECT_NEAR(get("client_cores_used") * length, 3 * kEach, 0.02 * 3 * kEach);
}

TEST(ReadThreads, OtherThreadsAndTheLibrarysAreCountedApart) {
  constexpr double kEach = 60e6;
  NamedThreads threads({"sync-0", "control", "tcp-echo", "grpc_timer", "event_engine", "x"}, static_cast<Nanos>(kEach));
  const Sample begin = TakeSample({});
  threads.Burn();
  const Sample end = TakeSample({});
  Figures figures;
  AddProcessFigures(Side::kClient, begin, end, {end.taken_at_ns() - begin.taken_at_ns(), 1}, figures);
  EXPECT_NEAR(figures.Get("client_cpu_workers_ns").value(), kEach, 0.05 * kEach);
  EXPECT_NEAR(figures.Get("client_cpu_other_threads_ns").value(), 2 * kEach, 0.05 * 2 * kEach);
  EXPECT_NEAR(figures.Get("client_cpu_library_ns").value(), 3 * kEach, 0.05 * 3 * kEach);
}

// A thread may end between the listing of its directory and the reading of its files.
TEST(ReadThreads, ThreadsThatEndMeanwhileAreThereAsTheyWereOrNotAtAll) {
  std::atomic<bool> stop{false};
  std::latch named(1);
  std::thread churn([&] {
    pthread_setname_np(pthread_self(), "cq-0");  // new threads inherit this name
    named.count_down();
    while (!stop) std::thread([] { BurnCpu(50 * kNanosPerMicro); }).join();
  });
  named.wait();
  const int library = CountByGroup(ReadThreads())[ThreadSample::LIBRARY];
  int most = 0;
  for (const Nanos until = NowNs() + 300 * kNanosPerMilli; NowNs() < until;) {
    most = std::max(most, CountByGroup(ReadThreads())[ThreadSample::LIBRARY]);
  }
  stop = true;
  churn.join();
  EXPECT_EQ(most, library) << "a thread that had lost its name";
}

TEST(ReadCpus, GivesTheCpusAskedForAlone) {
  const std::vector<int> allowed = AllowedCpus();
  EXPECT_THAT(ReadCpus({}), IsEmpty());
  EXPECT_THAT(ReadCpus({1'000'000}), IsEmpty());
  for (int cpu : allowed) EXPECT_THAT(ReadCpus({cpu}), ElementsAre(testing::Property(&CpuSample::cpu, cpu)));
  EXPECT_EQ(static_cast<size_t>(ReadCpus(allowed).size()), allowed.size());
}

// The comparison is rough: a guest machine loses the ticks that come late.
TEST(ReadCpus, TheirTimesGrowAsTheClockDoes) {
  const std::vector<int> cpus = AllowedCpus();
  const Nanos start = NowNs();
  const SampleList<CpuSample> before = ReadCpus(cpus);
  BurnCpu(200 * kNanosPerMilli);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const SampleList<CpuSample> after = ReadCpus(cpus);
  const auto clock = static_cast<double>(NowNs() - start);
  ASSERT_EQ(before.size(), after.size());
  double busy = 0;
  for (int i = 0; i < after.size(); ++i) {
    const CpuSample& a = before[i];
    const CpuSample& b = after[i];
    ASSERT_EQ(a.cpu(), b.cpu());
    const Nanos total = b.busy_ns() - a.busy_ns() + b.idle_ns() - a.idle_ns() + b.softirq_ns() - a.softirq_ns() +
                        b.steal_ns() - a.steal_ns();
    EXPECT_NEAR(static_cast<double>(total), clock, 0.5 * clock) << "CPU " << a.cpu();
    busy += static_cast<double>(b.busy_ns() - a.busy_ns());
  }
  EXPECT_GE(busy, 150e6) << "what this thread burnt, in ticks of 10 ms";
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
