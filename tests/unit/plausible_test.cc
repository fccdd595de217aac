// A control service that lies: whatever cannot be is refused, and what a real server says is not.
#include "src/observe/control/plausible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cqbench {
namespace {

using testing::HasSubstr;

constexpr Nanos kASecond = kNanosPerSecond;

// Samples that are a second apart, of a server that has been up for an hour on a machine whose clock is another.
class PlausiblePairTest : public testing::Test {
 protected:
  PlausiblePairTest() {
    Sample& a = begin_.sample;
    a.taken_at_ns = 3600 * kASecond;
    a.process = {10 * kASecond, 5 * kASecond, 100, 100, 100, 100, 1 << 20, 1 << 20};
    a.threads = {{10, ThreadGroup::kWorker, kASecond}, {11, ThreadGroup::kLibrary, kASecond}};
    a.cpus = {{0, 9 * kASecond, 9 * kASecond, kASecond, 0}, {1, 9 * kASecond, 9 * kASecond, kASecond, 0}};
    a.connections = {{77, 3600 * kASecond, kASecond, 100, 100, 1000, 1000, 0, 1000, 900, true, "cubic"}};
    a.allocations = AllocationCounts{100, 100, 100};
    a.messages = 1000;
    a.posted_requests = 100;
    a.messages_per_queue = {1000, 0};
    begin_.asked_ns = 5 * kASecond;
    begin_.answered_ns = 5 * kASecond + kNanosPerMilli;
    end_.asked_ns = 6 * kASecond;
    end_.answered_ns = 6 * kASecond + kNanosPerMilli;
    Sample& b = end_.sample = a;
    b.taken_at_ns += kASecond;
    b.process.user_ns += kASecond;
    b.process.system_ns += kASecond;
    b.messages += 50'000;
    b.messages_per_queue[0] += 50'000;
    b.connections[0].taken_at_ns += kASecond;
    b.connections[0].bytes_sent += 1'000'000;
    b.threads[0].cpu_ns += kASecond;
    b.cpus[0].busy_ns += kASecond;
  }
  std::string Why(size_t servers = 1) const { return WhyImpossible(begin_, end_, servers); }

  ServerMoment begin_, end_;
};

TEST_F(PlausiblePairTest, ARealServerIsBelieved) {
  EXPECT_EQ(Why(), "");
  EXPECT_EQ(Why(1000), "");
  end_.sample.cpus[0].idle_ns -= 20 * kNanosPerMilli;
  EXPECT_EQ(Why(), "") << "the kernel's counters are known to go back";
  end_.sample.threads.push_back({12, ThreadGroup::kLibrary, kASecond / 2});
  end_.sample.connections.clear();
  EXPECT_EQ(Why(), "") << "threads and connections come and go";
}

TEST_F(PlausiblePairTest, AServerThatKnowsLittleIsBelieved) {
  for (ServerMoment* moment : {&begin_, &end_}) {
    Sample bare;
    bare.taken_at_ns = moment->sample.taken_at_ns;
    moment->sample = bare;
  }
  EXPECT_EQ(Why(), "");
}

// Each of them may be right.
TEST_F(PlausiblePairTest, PartsThatCannotBeTogetherAreRefused) {
  for (int i = 0; i < 100; ++i) end_.sample.threads.push_back({100 + i, ThreadGroup::kLibrary, kASecond / 2});
  EXPECT_THAT(Why(), HasSubstr("its threads used 51 s of CPU in 1.001 s on 2 CPUs"));
  end_.sample.threads.resize(2);
  end_.sample.process.user_ns += kASecond;
  EXPECT_THAT(Why(), HasSubstr("its process used 3 s of CPU in 1.001 s on 2 CPUs"));
}

TEST_F(PlausiblePairTest, CpusThatOnlyTheDescriptionListsCount) {
  begin_.sample.cpus.clear();
  end_.sample.cpus.clear();
  end_.sample.process.user_ns += 3 * kASecond;
  EXPECT_EQ(Why(), "");
  end_.cpus = 2;
  EXPECT_THAT(Why(), HasSubstr("of CPU in programs"));
}

TEST_F(PlausiblePairTest, WhatWasRefusedBeforeStaysRefused) {
  begin_.refused = "x";
  EXPECT_EQ(Why(), "x");
  begin_.refused = "";
  end_.refused = "y";
  EXPECT_EQ(Why(), "y");
}

TEST_F(PlausiblePairTest, EachLieIsNamed) {
  const struct {
    const char* says;
    std::function<void(Sample&)> lie;
  } cases[] = {
      {"messages went back", [](Sample& s) { s.messages = 0; }},
      {"messages are", [](Sample& s) { s.messages = UINT64_MAX; }},
      {"messages grew", [](Sample& s) { s.messages = uint64_t{1} << 60; }},
      {"messages of a queue", [](Sample& s) { s.messages_per_queue[0] = 0; }},
      {"of CPU in programs", [](Sample& s) { s.process.user_ns = -1; }},
      {"of CPU in programs", [](Sample& s) { s.process.user_ns += 4 * kASecond; }},
      {"of CPU in programs are", [](Sample& s) { s.process.user_ns = INT64_MAX; }},
      {"of CPU in the kernel", [](Sample& s) { s.process.system_ns = 0; }},
      {"context switches", [](Sample& s) { s.process.voluntary_switches = 0; }},
      {"page faults", [](Sample& s) { s.process.minor_faults = uint64_t{1} << 50; }},
      {"bytes of memory", [](Sample& s) { s.process.rss_bytes = UINT64_MAX; }},
      {"a thread's", [](Sample& s) { s.threads[0].cpu_ns = 0; }},
      {"a thread's", [](Sample& s) { s.threads[0].cpu_ns += 2 * kASecond; }},
      {"thread -5", [](Sample& s) { s.threads[0].id = -5; }},
      {"thread 10 twice", [](Sample& s) { s.threads[1].id = 10; }},
      {"threads", [](Sample& s) { s.threads.resize(300'000); }},
      {"a CPU's", [](Sample& s) { s.cpus[1].idle_ns += 60 * kASecond; }},
      {"a CPU's", [](Sample& s) { s.cpus[1].busy_ns = INT64_MIN; }},
      {"CPU 100000", [](Sample& s) { s.cpus[1].cpu = 100'000; }},
      {"CPU 0 twice", [](Sample& s) { s.cpus[1].cpu = 0; }},
      {"round trip", [](Sample& s) { s.connections[0].rtt_min_ns = -1; }},
      {"a connection's bytes", [](Sample& s) { s.connections[0].bytes_sent = 0; }},
      {"a connection's segments", [](Sample& s) { s.connections[0].segments_sent = UINT64_MAX; }},
      {"looked at a connection", [](Sample& s) { s.connections[0].taken_at_ns = 3601; }},
      {"a connection twice", [](Sample& s) { s.connections.push_back(s.connections[0]); }},
      {"connections", [](Sample& s) { s.unix_connections = -1; }},
      {"posted", [](Sample& s) { s.posted_requests = -1; }},
      {"the second time that it looked at a connection", [](Sample& s) { s.connections[0].taken_at_ns -= kASecond; }},
      {"3 queues after 2", [](Sample& s) { s.messages_per_queue.push_back(0); }},
      {"0 queues after 2", [](Sample& s) { s.messages_per_queue.clear(); }},
      {"allocations", [](Sample& s) { s.allocations->allocations = 0; }},
      {"allocations in one sample only", [](Sample& s) { s.allocations.reset(); }},
      {"by its clock", [](Sample& s) { s.taken_at_ns -= kASecond; }},
      {"by its clock", [](Sample& s) { s.taken_at_ns = INT64_MAX; }},
      {"below 0", [](Sample& s) { s.taken_at_ns = INT64_MIN; }},
  };
  const Sample honest = end_.sample;
  for (const auto& [says, lie] : cases) {
    end_.sample = honest;
    lie(end_.sample);
    EXPECT_THAT(Why(), HasSubstr(says));
  }
}

TEST_F(PlausiblePairTest, TotalsOfManyServersFitIntoTheirSum) {
  for (ServerMoment* moment : {&begin_, &end_}) moment->sample.process.user_ns += INT64_MAX / 4;
  EXPECT_EQ(Why(1), "");
  EXPECT_THAT(Why(4), HasSubstr("of CPU in programs are"));
}

TEST(PlausibleHistogram, CountsAddUp) {
  control::v1::Histogram histogram;
  histogram.add_value_ns(5);
  histogram.add_count(7);
  EXPECT_EQ(WhyImpossible(histogram), "");
  histogram.add_value_ns(9);
  histogram.add_count(UINT64_MAX);
  EXPECT_THAT(WhyImpossible(histogram), HasSubstr("more calls"));
  histogram.set_count(1, 1);
  histogram.set_value_ns(0, -5);
  EXPECT_THAT(WhyImpossible(histogram), HasSubstr("less than no time"));
}

TEST(PlausibleHistogram, EachLengthHasACount) {
  control::v1::Histogram histogram;
  histogram.add_value_ns(5);
  EXPECT_THAT(WhyImpossible(histogram), HasSubstr("calls of 1 lengths and counted 0 of them"));
  histogram.add_count(0);
  EXPECT_THAT(WhyImpossible(histogram), HasSubstr("a call that it has not counted"));
  histogram.set_count(0, 1);
  EXPECT_EQ(WhyImpossible(histogram), "");
  histogram.add_count(1);
  EXPECT_THAT(WhyImpossible(histogram), HasSubstr("calls of 1 lengths and counted 2 of them"));
}

TEST(PlausibleDescription, WordsAndNumbersAreThoseThatThereAre) {
  ServerDescription honest;
  honest.set_build_type("release");
  honest.set_api("cq");
  EXPECT_TRUE(CleanAndValidate(honest).ok());
  honest.set_poll("block");
  honest.set_messages("reused");
  honest.set_service_time_ns(20'000);
  for (const int cpu : {0, 1}) honest.add_cpus(cpu);
  EXPECT_TRUE(CleanAndValidate(honest).ok());
  const struct {
    const char* says;
    std::function<void(ServerDescription&)> lie;
  } cases[] = {
      {"its api is 'x'", [](auto& s) { s.set_api("x"); }},
      {"its build_type is ''", [](auto& s) { s.clear_build_type(); }},
      {"poll", [](auto& s) { s.set_poll("x"); }},
      {"messages", [](auto& s) { s.set_messages("x"); }},
      {"write_hint", [](auto& s) { s.set_write_hint("corked"); }},
      {"codec", [](auto& s) { s.set_codec("x"); }},
      {"compression", [](auto& s) { s.set_compression("br"); }},
      {"service_time_mode", [](auto& s) { s.set_service_time_mode("x"); }},
      {"security", [](auto& s) { s.set_security("none"); }},
      {"tls_min_version", [](auto& s) { s.set_tls_min_version("1.1"); }},
      {"tls_ciphers", [](auto& s) { s.set_tls_ciphers("a b"); }},
      {"instance", [](auto& s) { s.set_instance("X"); }},
      {"num_cqs is -1", [](auto& s) { s.set_num_cqs(-1); }},
      {"workers_per_cq is 0", [](auto& s) { s.set_workers_per_cq(0); }},
      {"callbacks_per_cq", [](auto& s) { s.set_callbacks_per_cq(INT32_MAX); }},
      {"tcp_echo_port is 65536", [](auto& s) { s.set_tcp_echo_port(65536); }},
      {"service_time_ns", [](auto& s) { s.set_service_time_ns(-1e300); }},
      {"service_time_ns is 1.5", [](auto& s) { s.set_service_time_ns(1.5); }},
      {"service_time_ns is nan", [](auto& s) { s.set_service_time_ns(NAN); }},
      {"1001 listening",
       [](auto& s) {
         while (s.listening_size() <= 1000) s.add_listening("");
       }},
      {"cpus twice", [](auto& s) { s.set_cpus(1, 0); }},
      {"cpus is -1", [](auto& s) { s.set_cpus(0, -1); }},
      {"cpus is 100000", [](auto& s) { s.set_cpus(0, 100'000); }},
      {"9000 cpus", [](auto& s) { s.mutable_cpus()->Resize(9000, 0); }},
  };
  for (const auto& [says, lie] : cases) {
    ServerDescription description = honest;
    lie(description);
    EXPECT_THAT(std::string(CleanAndValidate(description).message()), HasSubstr(says));
  }
}

TEST(PlausibleDescription, TextsAreCleaned) {
  ServerDescription description;
  description.set_build_type("release");
  description.set_api("cq");
  description.set_kernel("\x1b]0;x\x07<b>");
  description.add_channel_args("a\nb");
  description.set_cpu_model(std::string(5000, 'x'));
  description.set_poll("");
  EXPECT_TRUE(CleanAndValidate(description).ok());
  EXPECT_EQ(description.kernel(), " ]0;x ?b?");
  EXPECT_EQ(description.channel_args(0), "a b");
  EXPECT_EQ(description.cpu_model().size(), 1000u);
  EXPECT_FALSE(description.has_poll()) << "an empty text is none";
}

}  // namespace
}  // namespace cqbench
