#include "src/observe/control/plausible.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/clean_text.h"

namespace cqbench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Of machines and programs, with much to spare. A list is gone through for each of its elements.
constexpr size_t kMostCpus = 8192;
constexpr int kCpuNumbers = 100'000;  // server_sum.cc numbers a second machine's from here on
constexpr size_t kMostThreads = 200'000;
constexpr int kThreadIds = 1 << 24;  // the kernel's limit is 2^22
constexpr size_t kMostConnections = 200'000;
constexpr int kMostTexts = 1'000;
constexpr int kMostPerQueue = 100'000;  // --callbacks-per-cq
constexpr size_t kMostQueues = 1024;    // --num-cqs
constexpr double kMostRss = 1e15;
constexpr double kMostPosted = 1e12;
constexpr Nanos kMostRtt = 3600 * kNanosPerSecond;
constexpr uint64_t kMostTimes = uint64_t{1} << 53;  // of a histogram, in all
// In a second: whatever is counted, and bytes.
constexpr double kMostEvents = 1e10;
constexpr double kMostBytes = 1e13;
// Clocks of two machines do not run alike, and the kernel counts in ticks, some of which are known to go back.
constexpr double kClockShare = 0.01;
constexpr double kTicksShare = 0.25;
constexpr auto kSlack = static_cast<double>(100 * kNanosPerMilli);

template <typename... Parts>
absl::Status Impossible(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Rules for the fields of the description; a field with presence is checked where it is set. The words are those of
// the result's schema, the ranges those that the server's flags accept.
using Words = std::vector<absl::string_view>;
struct WordRule {
  const char* field;
  Words words;
};
const WordRule kWordRules[] = {
    {"build_type", {"release", "debug", "asan", "tsan"}},
    {"api", {"cq", "callback", "sync", "generic"}},
    {"poll", {"block", "spin"}},
    {"messages", {"fresh", "reused", "arena", "bytes"}},
    {"write_hint", {"buffer"}},
    {"codec", {"pooled"}},
    {"compression", {"deflate", "gzip"}},
    {"service_time_distribution", {"constant", "exponential"}},
    {"service_time_mode", {"burn", "wait"}},
    {"security", {"tls", "mutual-tls"}},
    {"tls_min_version", {"1.2", "1.3"}},
};
struct NumberRule {
  const char* field;
  double least, most;
  int most_values = 1;
};
constexpr NumberRule kNumberRules[] = {
    {"num_cqs", 1, kMostQueues}, {"workers_per_cq", 1, kMostPerQueue}, {"callbacks_per_cq", 1, kMostPerQueue},
    {"tcp_echo_port", 1, 65535}, {"service_time_ns", 1, kMostRtt},     {"cpus", 0, kCpuNumbers - 1, kMostCpus},
};
// Texts in which other characters have no meaning.
constexpr std::pair<const char*, const char*> kLetterRules[] = {
    {"tls_ciphers", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:-"},
    {"instance", "0123456789abcdef"},
};

bool IsOneOf(const std::string& word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A field of a message by its name. One that is not set, and has presence, has no values.
class Field {
 public:
  Field(const Message& message, const char* name)
      : message_(message),
        reflection_(*message.GetReflection()),
        field_(*message.GetDescriptor()->FindFieldByName(name)) {}

  int count() const {
    if (field_.is_repeated()) return reflection_.FieldSize(message_, &field_);
    return !field_.has_presence() || reflection_.HasField(message_, &field_) ? 1 : 0;
  }
  std::string Text() const { return reflection_.GetString(message_, &field_); }
  double Number(int i) const {
    const bool repeated = field_.is_repeated();
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return repeated ? reflection_.GetRepeatedInt32(message_, &field_, i) : reflection_.GetInt32(message_, &field_);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection_.GetDouble(message_, &field_);
      default:
        return NAN;
    }
  }

 private:
  const Message& message_;
  const google::protobuf::Reflection& reflection_;
  const FieldDescriptor& field_;
};

// Texts are shown and written into files: each becomes a clean name, and is cut where it is longer.
constexpr size_t kMostTextBytes = 1000;
void CleanTexts(Message& message) {
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
    if (!field->is_repeated()) {
      const std::string text = CleanName(reflection.GetString(message, field), kMostTextBytes);
      reflection.SetString(&message, field, text);
      if (text.empty()) reflection.ClearField(&message, field);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      reflection.SetRepeatedString(&message, field, i,
                                   CleanName(reflection.GetRepeatedString(message, field, i), kMostTextBytes));
    }
  }
}

// What differs between the samples of one server.
class Pair {
 public:
  Pair(const ServerMoment& begin, const ServerMoment& end, size_t servers)
      : why_(begin.refused.empty() ? end.refused : begin.refused),
        begin_(begin.sample),
        end_(end.sample),
        cpus_(CpusOf(begin, end)),
        least_(static_cast<double>(end.asked_ns - begin.answered_ns)),
        most_(static_cast<double>(end.answered_ns - begin.asked_ns)),
        largest_(static_cast<double>(INT64_MAX / 2) / static_cast<double>(servers)) {}

  std::string Why() {
    if (why_.empty()) CheckSizes();
    if (why_.empty()) CheckTime();
    if (why_.empty()) CheckProcess();
    if (why_.empty()) CheckThreads();
    if (why_.empty()) CheckCpus();
    if (why_.empty()) CheckConnections();
    if (why_.empty()) CheckMessages();
    return why_;
  }

 private:
  template <typename... Parts>
  void Refuse(const Parts&... parts) {
    if (why_.empty()) why_ = absl::StrCat(parts...);
  }

  // A running total: from 0 on, not back, and not by more than `most`.
  template <typename T>
  void Total(absl::string_view name, T from, T to, double most) {
    const auto a = static_cast<double>(from), b = static_cast<double>(to);
    if (a < 0 || b < 0 || a > largest_ || b > largest_) {
      Refuse(name, " are ", a < 0 || a > largest_ ? a : b);
    } else if (b < a) {
      Refuse(name, " went back from ", a, " to ", b);
    } else if (b - a > most) {
      Refuse(name, " grew by ", b - a, " in ", most_ / kNanosPerSecond, " s");
    }
  }
  double InAll(double per_second) const { return per_second * (most_ + kSlack) / kNanosPerSecond; }
  // As many as the server lists; an empty list says that it does not know.
  static double CpusOf(const ServerMoment& begin, const ServerMoment& end) {
    const size_t known = std::max({begin.sample.cpus.size(), end.sample.cpus.size(), end.cpus});
    return static_cast<double>(known == 0 ? kMostCpus : known);
  }
  double OfCpus(double cpus) const { return cpus * (most_ * (1 + kTicksShare) + kSlack); }

  void CheckSizes() {
    for (const Sample* sample : {&begin_, &end_}) {
      if (sample->threads.size() > kMostThreads) Refuse("it has ", sample->threads.size(), " threads");
      if (sample->cpus.size() > kMostCpus) Refuse("it has ", sample->cpus.size(), " CPUs");
      if (sample->connections.size() > kMostConnections) Refuse("it has ", sample->connections.size(), " connections");
      if (sample->messages_per_queue.size() > kMostQueues)
        Refuse("it has ", sample->messages_per_queue.size(), " queues");
      if (sample->unix_connections < 0) Refuse("it has ", sample->unix_connections, " connections");
      const auto posted = static_cast<double>(sample->posted_requests.value_or(0));
      if (posted < 0 || posted > kMostPosted) Refuse("it has posted ", posted, " requests");
    }
  }

  // Both samples were taken while we waited for them.
  void CheckTime() {
    const auto apart = static_cast<double>(end_.taken_at_ns) - static_cast<double>(begin_.taken_at_ns);
    const double slack = most_ * kClockShare + kSlack;
    if (begin_.taken_at_ns < 0 || end_.taken_at_ns < 0) Refuse("it took a sample at a time below 0");
    if (apart < least_ - slack || apart > most_ + slack) {
      Refuse("by its clock its samples are ", apart / kNanosPerSecond, " s apart, by this one ",
             least_ / kNanosPerSecond, " to ", most_ / kNanosPerSecond);
    }
  }

  void CheckProcess() {
    const ProcessSample &a = begin_.process, &b = end_.process;
    Total("nanoseconds of CPU in programs", a.user_ns, b.user_ns, OfCpus(cpus_));
    Total("nanoseconds of CPU in the kernel", a.system_ns, b.system_ns, OfCpus(cpus_));
    CpuInAll("its process", Between(a.user_ns, b.user_ns) + Between(a.system_ns, b.system_ns));
    Total("context switches", a.voluntary_switches, b.voluntary_switches, InAll(kMostEvents));
    Total("involuntary context switches", a.involuntary_switches, b.involuntary_switches, InAll(kMostEvents));
    Total("page faults", a.minor_faults, b.minor_faults, InAll(kMostEvents));
    Total("major page faults", a.major_faults, b.major_faults, InAll(kMostEvents));
    for (const uint64_t bytes : {a.rss_bytes, b.rss_bytes, a.peak_rss_bytes, b.peak_rss_bytes}) {
      if (static_cast<double>(bytes) > kMostRss) Refuse("it has ", bytes, " bytes of memory");
    }
  }

  void CheckThreads() {
    double in_all = 0;
    const std::map<int, const ThreadSample*> before = ById(begin_.threads, "thread", kThreadIds, &ThreadSample::id);
    for (const auto& [id, thread] : ById(end_.threads, "thread", kThreadIds, &ThreadSample::id)) {
      const auto found = before.find(id);
      const Nanos from = found == before.end() ? 0 : found->second->cpu_ns;
      Total("a thread's nanoseconds of CPU", from, thread->cpu_ns, OfCpus(1));
      in_all += Between(from, thread->cpu_ns);
    }
    CpuInAll("its threads", in_all);
  }
  static double Between(Nanos from, Nanos to) { return static_cast<double>(to) - static_cast<double>(from); }
  // Each part may be possible, and all together not.
  void CpuInAll(absl::string_view whose, double ns) {
    if (ns <= OfCpus(cpus_)) return;
    Refuse(whose, " used ", ns / kNanosPerSecond, " s of CPU in ", most_ / kNanosPerSecond, " s on ", cpus_, " CPUs");
  }

  void CheckCpus() {
    const std::map<int, const CpuSample*> before = ById(begin_.cpus, "CPU", kCpuNumbers, &CpuSample::cpu);
    for (const auto& [id, cpu] : ById(end_.cpus, "CPU", kCpuNumbers, &CpuSample::cpu)) {
      const auto found = before.find(id);
      if (found == before.end()) continue;
      for (const auto part : {&CpuSample::busy_ns, &CpuSample::idle_ns, &CpuSample::softirq_ns, &CpuSample::steal_ns}) {
        const Nanos from = found->second->*part, to = cpu->*part;
        const bool a_tick = from > to && static_cast<double>(from) - static_cast<double>(to) < kSlack;
        Total("a CPU's nanoseconds", a_tick ? to : from, to, OfCpus(1));
      }
    }
  }

  template <typename T>
  std::map<int, const T*> ById(const std::vector<T>& list, absl::string_view what, int ids, int T::*id) {
    std::map<int, const T*> by_id;
    for (const T& each : list) {
      if (each.*id < 0 || each.*id >= ids) Refuse("it has a ", what, " ", each.*id);
      if (!by_id.emplace(each.*id, &each).second) Refuse("it has ", what, " ", each.*id, " twice");
    }
    return by_id;
  }

  void CheckConnections() {
    const auto before = ConnectionsOf(begin_);
    for (const auto& [id, c] : ConnectionsOf(end_)) {
      for (const Nanos rtt : {c->rtt_smoothed_ns, c->rtt_min_ns}) {
        if (rtt < 0 || rtt > kMostRtt) Refuse("a connection's round trip takes ", rtt, " ns");
      }
      const auto found = before.find(id);
      if (found == before.end()) continue;
      const ConnectionSample& a = *found->second;
      if (c->taken_at_ns <= a.taken_at_ns)
        Refuse("the second time that it looked at a connection is not after the first");
      Total("a connection's busy nanoseconds", a.busy_ns, c->busy_ns, InAll(kMostEvents));
      Total("a connection's segments", a.segments_sent, c->segments_sent, InAll(kMostEvents));
      Total("a connection's segments received", a.segments_received, c->segments_received, InAll(kMostEvents));
      Total("a connection's bytes", a.bytes_sent, c->bytes_sent, InAll(kMostBytes));
      Total("a connection's bytes received", a.bytes_received, c->bytes_received, InAll(kMostBytes));
      Total("a connection's retransmissions", a.retransmissions, c->retransmissions, InAll(kMostEvents));
    }
  }

  // Their own times are within the sample's.
  std::map<uint64_t, const ConnectionSample*> ConnectionsOf(const Sample& sample) {
    std::map<uint64_t, const ConnectionSample*> by_id;
    for (const ConnectionSample& c : sample.connections) {
      if (!by_id.emplace(c.id, &c).second) Refuse("it has a connection twice");
      const double off = static_cast<double>(c.taken_at_ns) - static_cast<double>(sample.taken_at_ns);
      if (std::abs(off) > most_ + kSlack) Refuse("it looked at a connection ", off, " ns after its sample");
    }
    return by_id;
  }

  void CheckMessages() {
    Total("messages", begin_.messages, end_.messages, InAll(kMostEvents));
    const size_t queues = end_.messages_per_queue.size();
    if (queues != begin_.messages_per_queue.size()) {
      return Refuse("it has ", queues, " queues after ", begin_.messages_per_queue.size());
    }
    for (size_t i = 0; i < queues; ++i) {
      Total("messages of a queue", begin_.messages_per_queue[i], end_.messages_per_queue[i], InAll(kMostEvents));
    }
    if (begin_.allocations.has_value() != end_.allocations.has_value()) {
      return Refuse("it counts allocations in one sample only");
    }
    if (!end_.allocations) return;
    const AllocationCounts &a = *begin_.allocations, &b = *end_.allocations;
    Total("allocations", a.allocations, b.allocations, InAll(kMostEvents));
    Total("allocated bytes", a.bytes, b.bytes, InAll(kMostBytes));
    Total("frees elsewhere", a.freed_elsewhere, b.freed_elsewhere, InAll(kMostEvents));
  }

  std::string why_;
  const Sample& begin_;
  const Sample& end_;
  const double cpus_;
  const double least_;    // ns between the samples, by the client's clock
  const double most_;     // ns
  const double largest_;  // of any total, for sums to fit
};

}  // namespace

absl::Status CleanAndValidate(ServerDescription& description) {
  CleanTexts(description);
  for (const WordRule& rule : kWordRules) {
    const Field field(description, rule.field);
    const std::string word = field.count() > 0 ? field.Text() : std::string(rule.words.front());
    if (!IsOneOf(word, rule.words)) return Impossible("its ", rule.field, " is '", word, "'");
  }
  for (const auto& [name, least, most, most_values] : kNumberRules) {
    const Field field(description, name);
    if (field.count() > most_values) return Impossible("it has ", field.count(), " ", name);
    for (int i = 0; i < field.count(); ++i) {
      const double number = field.Number(i);
      if (!(number >= least && number <= most && number == std::floor(number))) {
        return Impossible("its ", name, " is ", number);
      }
    }
  }
  for (const char* name : {"channel_args", "listening", "http_front_ends"}) {
    const int count = Field(description, name).count();
    if (count > kMostTexts) return Impossible("it has ", count, " ", name);
  }
  for (const auto& [name, letters] : kLetterRules) {
    const std::string text = Field(description, name).Text();
    if (text.find_first_not_of(letters) != std::string::npos) return Impossible("its ", name, " is '", text, "'");
  }
  const std::set<int> cpus(description.cpus().begin(), description.cpus().end());
  if (cpus.size() < static_cast<size_t>(description.cpus_size())) return Impossible("it has one of its cpus twice");
  return absl::OkStatus();
}

std::string WhyImpossible(const control::v1::Histogram& histogram) {
  if (histogram.value_ns_size() != histogram.count_size()) {
    return absl::StrCat("it has timed calls of ", histogram.value_ns_size(), " lengths and counted ",
                        histogram.count_size(), " of them");
  }
  uint64_t total = 0;
  for (const uint64_t count : histogram.count()) {
    if (count == 0) return "it has timed a call that it has not counted";
    if (count > kMostTimes || (total += count) > kMostTimes) return "it has timed more calls than can be counted";
  }
  const auto& values = histogram.value_ns();
  if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; })) {
    return "a call of its took less than no time";
  }
  return "";
}

std::string NoteOfRefusal(const std::string& why) {
  return absl::StrCat("what its control service says cannot be (", why, "): its figures are absent");
}

std::string WhyImpossible(const ServerMoment& begin, const ServerMoment& end, size_t servers) {
  return Pair(begin, end, servers).Why();
}

}  // namespace cqbench
