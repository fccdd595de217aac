// A control service whose values cannot be is refused, and a real server's is not.
#include "src/observe/control/plausible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/text_message.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

constexpr Nanos kASecond = kNanosPerSecond;

// Two samples, a second apart, of a server that has run for an hour on a machine with another clock.
class PlausiblePairTest : public testing::Test {
 protected:
  PlausiblePairTest() {
    begin_.sample = FromText<Sample>(R"(
      taken_at_ns: 3600000000000
      process { user_ns: 10000000000 system_ns: 5000000000 voluntary_switches: 100 involuntary_switches: 100
                minor_faults: 100 major_faults: 100 rss_bytes: 1000000 peak_rss_bytes: 1000000 }
      threads { id: 10 group: WORKER cpu_ns: 1000000000 } threads { id: 11 cpu_ns: 1000000000 }
      cpus { cpu: 0 busy_ns: 9000000000 idle_ns: 9000000000 softirq_ns: 1000000000 }
      cpus { cpu: 1 busy_ns: 9000000000 idle_ns: 9000000000 softirq_ns: 1000000000 }
      connections { id: 77 taken_at_ns: 3600000000000 busy_ns: 1000000000 segments_sent: 100 segments_received: 100
                    bytes_sent: 1000 bytes_received: 1000 rtt_smoothed_ns: 1000 rtt_min_ns: 900 no_delay: true }
      allocations { allocations: 100 bytes: 100 freed_elsewhere: 100 }
      messages: 1000 posted_requests: 100 messages_per_queue: [1000, 0])");
    begin_.asked_ns = 5 * kASecond;
    begin_.received_ns = 5 * kASecond + kNanosPerMilli;
    end_.asked_ns = 6 * kASecond;
    end_.received_ns = 6 * kASecond + kNanosPerMilli;
    Sample& b = end_.sample = begin_.sample;
    b.set_taken_at_ns(3601 * kASecond);
    b.mutable_process()->set_user_ns(11 * kASecond);
    b.mutable_process()->set_system_ns(6 * kASecond);
    b.set_messages(51'000);
    b.set_messages_per_queue(0, 51'000);
    b.mutable_connections(0)->set_taken_at_ns(3601 * kASecond);
    b.mutable_connections(0)->set_bytes_sent(1'001'000);
    b.mutable_threads(0)->set_cpu_ns(2 * kASecond);
    b.mutable_cpus(0)->set_busy_ns(10 * kASecond);
  }
  std::string Why(size_t servers = 1) const { return std::string(ValidateSamples(begin_, end_, servers).message()); }
  // A thread of the server's that used half a second and that began after the first sample.
  void AddThread(int id) {
    ThreadSample& thread = *end_.sample.add_threads();
    thread.set_id(id);
    thread.set_cpu_ns(kASecond / 2);
  }

  ServerMoment begin_, end_;
};

TEST_F(PlausiblePairTest, ARealServerIsBelieved) {
  EXPECT_EQ(Why(), "");
  EXPECT_EQ(Why(1000), "");
  end_.sample.mutable_cpus(0)->set_idle_ns(9 * kASecond - 20 * kNanosPerMilli);
  EXPECT_EQ(Why(), "") << "the kernel's counters are known to go back";
  AddThread(12);
  end_.sample.clear_connections();
  EXPECT_EQ(Why(), "") << "threads and connections come and go";
  CpuSample& cpu = *end_.sample.add_cpus();
  cpu.set_cpu(5);
  cpu.set_idle_ns(3600 * kASecond);
  EXPECT_EQ(Why(), "") << "the process may run on another CPU now";
  *end_.sample.mutable_call_times()->mutable_handling() = control::v1::Histogram();
  EXPECT_EQ(Why(), "") << "times are taken from the first sample on";
}

TEST_F(PlausiblePairTest, AServerThatKnowsLittleIsBelieved) {
  for (ServerMoment* moment : {&begin_, &end_}) {
    Sample bare;
    bare.set_taken_at_ns(moment->sample.taken_at_ns());
    moment->sample = bare;
  }
  EXPECT_EQ(Why(), "");
}

// Each value alone may be right.
TEST_F(PlausiblePairTest, PartsThatCannotBeTogetherAreRefused) {
  for (int i = 0; i < 100; ++i) AddThread(100 + i);
  EXPECT_THAT(Why(), HasSubstr("its threads used 51 s of CPU in 1.001 s on 2 CPUs"));
  while (end_.sample.threads_size() > 2) end_.sample.mutable_threads()->RemoveLast();
  end_.sample.mutable_process()->set_user_ns(12 * kASecond);
  EXPECT_THAT(Why(), HasSubstr("its process used 3 s of CPU in 1.001 s on 2 CPUs"));
}

TEST_F(PlausiblePairTest, CpusThatOnlyTheDescriptionListsCount) {
  begin_.sample.clear_cpus();
  end_.sample.clear_cpus();
  end_.sample.mutable_process()->set_user_ns(14 * kASecond);
  EXPECT_EQ(Why(), "");
  end_.cpus = 2;
  EXPECT_THAT(Why(), HasSubstr("its process.user_ns grew by 4e+09"));
}

TEST_F(PlausiblePairTest, WhatWasRefusedBeforeStaysRefused) {
  begin_.refused = "x";
  EXPECT_EQ(Why(), "x");
  begin_.refused = "";
  end_.refused = "y";
  EXPECT_EQ(Why(), "y");
}

// `lie` is merged into an honest sample, the second of the pair; its lists replace the honest ones.
TEST_F(PlausiblePairTest, EachFieldThatCannotBeIsNamed) {
  const struct {
    const char* says;
    const char* lie;
  } cases[] = {
      {"its messages went back from 1000 to 1", "messages: 1"},
      {"its messages is 1.8", "messages: 18446744073709551615"},
      {"its messages grew by", "messages: 1152921504606846976"},
      {"its messages_per_queue went back", "messages_per_queue: [0, 0]"},
      {"its process.user_ns is -1", "process { user_ns: -1 }"},
      {"its process.user_ns grew by 5e+09 in 1.001 s", "process { user_ns: 15000000000 }"},
      {"its process.user_ns is 9.2", "process { user_ns: 9223372036854775807 }"},
      {"its process.system_ns went back", "process { system_ns: 1 }"},
      {"its process.voluntary_switches went back", "process { voluntary_switches: 1 }"},
      {"its process.minor_faults grew by", "process { minor_faults: 1125899906842624 }"},
      {"its process.rss_bytes is", "process { rss_bytes: 18446744073709551615 }"},
      {"its threads[10].cpu_ns went back", "threads { id: 10 cpu_ns: 1 } threads { id: 11 cpu_ns: 1000000000 }"},
      {"its threads[10].cpu_ns grew", "threads { id: 10 cpu_ns: 4000000000 }"},
      {"its threads.id is -5", "threads { id: -5 }"},
      {"it has threads[10] twice", "threads { id: 10 } threads { id: 10 }"},
      {"its cpus[1].idle_ns grew", "cpus { cpu: 1 idle_ns: 69000000000 busy_ns: 9000000000 softirq_ns: 1000000000 }"},
      {"its cpus[1].busy_ns is -9", "cpus { cpu: 1 busy_ns: -9223372036854775808 }"},
      {"its cpus.cpu is 100000", "cpus { cpu: 100000 }"},
      {"it has cpus[0] twice", "cpus {} cpus {}"},
      {"its connections[9].rtt_min_ns is -1", "connections { id: 9 taken_at_ns: 3601000000000 rtt_min_ns: -1 }"},
      {"its connections[77].bytes_sent went back",
       "connections { id: 77 taken_at_ns: 3601000000000 busy_ns: 1000000000 "
       "segments_sent: 100 segments_received: 100 bytes_sent: 1 }"},
      {"its connections[9].segments_sent is",
       "connections { id: 9 taken_at_ns: 3601000000000 "
       "segments_sent: 18446744073709551615 }"},
      {"its connections[9].taken_at_ns is", "connections { id: 9 taken_at_ns: 3601 }"},
      {"its connections[77].taken_at_ns is not after", "connections { id: 77 taken_at_ns: 3600000000000 }"},
      {"it has connections[9] twice", "connections { id: 9 } connections { id: 9 }"},
      {"its unix_connections is", "unix_connections: 4294967295"},
      {"its posted_requests is -1", "posted_requests: -1"},
      {"it has 3 messages_per_queue after 2", "messages_per_queue: [51000, 0, 0]"},
      {"it has 1 messages_per_queue after 2", "messages_per_queue: [51000]"},
      {"its allocations.allocations went back", "allocations { allocations: 1 }"},
      {"by its clock its samples are 0 s apart, by this one 0.999 to 1.001", "taken_at_ns: 3600000000000"},
      {"by its clock", "taken_at_ns: 9223372036854775807"},
      {"below 0", "taken_at_ns: -9223372036854775808"},
  };
  const Sample honest = end_.sample;
  for (const auto& [says, lie] : cases) {
    const auto lies = FromText<Sample>(lie);
    end_.sample = honest;
    if (lies.threads_size() > 0) end_.sample.clear_threads();
    if (lies.cpus_size() > 0) end_.sample.clear_cpus();
    if (lies.connections_size() > 0) end_.sample.clear_connections();
    if (lies.messages_per_queue_size() > 0) end_.sample.clear_messages_per_queue();
    end_.sample.MergeFrom(lies);
    EXPECT_THAT(Why(), HasSubstr(says)) << lie;
  }
}

TEST_F(PlausiblePairTest, WhatIsInOneSampleOnlyIsRefused) {
  end_.sample.clear_allocations();
  EXPECT_EQ(Why(), "its allocations is in one sample only");
}

TEST_F(PlausiblePairTest, ListsAreBoundedInBothSamples) {
  for (ServerMoment* moment : {&begin_, &end_}) {
    const Sample honest = moment->sample;
    for (int i = 0; i < 200'001; ++i) moment->sample.add_threads();
    EXPECT_THAT(Why(), HasSubstr("it has 200003 threads"));
    moment->sample = honest;
  }
}

// Ids are added up with those of other servers, so the first sample's count, too.
TEST_F(PlausiblePairTest, IdsOfTheFirstSampleAreChecked) {
  begin_.sample.add_threads()->set_id(INT32_MAX);
  EXPECT_THAT(Why(), HasSubstr("its threads.id is"));
}

TEST_F(PlausiblePairTest, TotalsOfManyServersFitIntoTheirSum) {
  for (ServerMoment* moment : {&begin_, &end_}) moment->sample.mutable_process()->set_user_ns(INT64_MAX / 4);
  EXPECT_EQ(Why(1), "");
  EXPECT_THAT(Why(4), HasSubstr("its process.user_ns is"));
}

std::string Why(const control::v1::Histogram& histogram) {
  return std::string(ValidateHistogram(histogram).message());
}

TEST(PlausibleHistogram, CountsAddUp) {
  control::v1::Histogram histogram;
  histogram.add_value_ns(5);
  histogram.add_count(7);
  EXPECT_EQ(Why(histogram), "");
  histogram.add_value_ns(9);
  histogram.add_count(UINT64_MAX);
  EXPECT_THAT(Why(histogram), HasSubstr("more calls"));
  histogram.set_count(1, 1);
  histogram.set_value_ns(0, -5);
  EXPECT_THAT(Why(histogram), HasSubstr("less than no time"));
}

TEST(PlausibleHistogram, EachLengthHasACount) {
  control::v1::Histogram histogram;
  histogram.add_value_ns(5);
  EXPECT_THAT(Why(histogram), HasSubstr("calls of 1 lengths and counted 0 of them"));
  histogram.add_count(0);
  EXPECT_THAT(Why(histogram), HasSubstr("a call that it has not counted"));
  histogram.set_count(0, 1);
  EXPECT_EQ(Why(histogram), "");
  histogram.add_count(1);
  EXPECT_THAT(Why(histogram), HasSubstr("calls of 1 lengths and counted 2 of them"));
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
      {"serializer", [](auto& s) { s.set_serializer("x"); }},
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
      {"9000 cpus",
       [](auto& s) {
         while (s.cpus_size() < 9000) s.add_cpus(0);
       }},
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
