#include "src/observe/control/plausible.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/server.h"
#include "src/base/clean_text.h"
#include "src/base/enum_names.h"
#include "src/config/client_api.h"
#include "src/config/messages.h"
#include "src/observe/sampling/sample.h"

namespace cqbench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Limits of machines and programs, far from what was ever measured.
constexpr int kMostCpus = 8192;
constexpr int kMostThreads = 200'000;
constexpr int kMostConnections = 200'000;
constexpr int kMostTexts = 1'000;
constexpr size_t kMostTextBytes = 1'000;
constexpr int kMostPerQueue = 100'000;  // --callbacks-per-cq
constexpr int kMostQueues = 1024;       // --num-cqs
constexpr double kMostRss = 1e15;
constexpr double kMostPosted = 1e12;
constexpr auto kMostTimeNs = static_cast<double>(3600 * kNanosPerSecond);
constexpr uint64_t kMostTimes = uint64_t{1} << 53;  // of a histogram, in all
// In a second.
constexpr double kMostEvents = 1e10;
constexpr double kMostBytes = 1e13;
// Clocks of two machines do not run alike, and the kernel counts in ticks, some of which are known to go back.
constexpr double kClockShare = 0.01;
constexpr double kCpuNs = 1.25 * kNanosPerSecond;
constexpr auto kSlack = static_cast<double>(100 * kNanosPerMilli);

enum class Kind {
  kTotal,       // not negative, not less than in the sample before, and at most `max` more for each second
  kProcessCpu,  // the same, `max` for each CPU of the server
  kThreadCpu,   // the same, on one CPU
  kTicks,       // the same, on one CPU, as the kernel counts it
  kValue,       // a whole number from `min` to `max`
  kId,          // the same; no two elements of a list have the same
  kClock,       // a connection's own time, close to its sample's
  kMessages,    // a list of messages
  kNotHere,     // checked elsewhere
};

struct Rule {
  const char* field;
  Kind kind;
  double min;
  double max;
  int most = kMostTexts;  // elements of a list
};

// A number without a row is a running total of events.
constexpr Rule kEvents = {"", Kind::kTotal, 0, kMostEvents};
constexpr Rule kRules[] = {
    // The ranges that the server's flags accept.
    {"ServerDescription.num_cqs", Kind::kValue, 1, kMostQueues},
    {"ServerDescription.workers_per_cq", Kind::kValue, 1, kMostPerQueue},
    {"ServerDescription.callbacks_per_cq", Kind::kValue, 1, kMostPerQueue},
    {"ServerDescription.tcp_echo_port", Kind::kValue, 1, 65535},
    {"ServerDescription.service_time_ns", Kind::kValue, 1, kMostTimeNs},
    {"ServerDescription.cpus", Kind::kValue, 0, kCpuIds - 1, kMostCpus},
    {"Sample.taken_at_ns", Kind::kNotHere, 0, 0},
    {"Sample.threads", Kind::kMessages, 0, 0, kMostThreads},
    {"Sample.cpus", Kind::kMessages, 0, 0, kMostCpus},
    {"Sample.connections", Kind::kMessages, 0, 0, kMostConnections},
    {"Sample.unix_connections", Kind::kValue, 0, kMostConnections},
    {"Sample.posted_requests", Kind::kValue, 0, kMostPosted},
    {"Sample.messages_per_queue", Kind::kTotal, 0, kMostEvents, kMostQueues},
    {"Sample.call_times", Kind::kNotHere, 0, 0},
    {"ProcessSample.user_ns", Kind::kProcessCpu, 0, kCpuNs},
    {"ProcessSample.system_ns", Kind::kProcessCpu, 0, kCpuNs},
    {"ProcessSample.rss_bytes", Kind::kValue, 0, kMostRss},
    {"ProcessSample.peak_rss_bytes", Kind::kValue, 0, kMostRss},
    {"ThreadSample.id", Kind::kId, 0, kThreadIds - 1},
    {"ThreadSample.cpu_ns", Kind::kThreadCpu, 0, kCpuNs},
    {"CpuSample.cpu", Kind::kId, 0, kCpuIds - 1},
    {"CpuSample.busy_ns", Kind::kTicks, 0, kCpuNs},
    {"CpuSample.idle_ns", Kind::kTicks, 0, kCpuNs},
    {"CpuSample.softirq_ns", Kind::kTicks, 0, kCpuNs},
    {"CpuSample.steal_ns", Kind::kTicks, 0, kCpuNs},
    {"ConnectionSample.id", Kind::kId, 0, HUGE_VAL},
    {"ConnectionSample.taken_at_ns", Kind::kClock, 0, 0},
    {"ConnectionSample.bytes_sent", Kind::kTotal, 0, kMostBytes},
    {"ConnectionSample.bytes_received", Kind::kTotal, 0, kMostBytes},
    {"ConnectionSample.rtt_smoothed_ns", Kind::kValue, 0, kMostTimeNs},
    {"ConnectionSample.rtt_min_ns", Kind::kValue, 0, kMostTimeNs},
    {"Allocations.bytes", Kind::kTotal, 0, kMostBytes},
};

// A text of the description that is set is one of these words, as in the result's schema.
using Words = std::vector<absl::string_view>;

template <NamedEnum E>
Words NamesIn() {
  Words names;
  for (const EnumName<E>& each : NamesOf(E{})) names.push_back(each.name);
  return names;
}

const std::pair<const char*, Words> kWordRules[] = {
    {"build_type", {"release", "debug", "asan", "tsan"}},
    {"api", NamesIn<ServerApi>()},
    {"grpc_link", {"static", "shared"}},
    {"poll", NamesIn<PollMode>()},
    {"messages", NamesIn<MessageStrategy>()},
    {"write_hint", {"buffer"}},
    {"serializer", {"buffer-reusing"}},
    {"compression", {"deflate", "gzip"}},
    {"service_time_distribution", {"constant", "exponential"}},
    {"service_time_mode", {"burn", "wait"}},
    {"security", {"tls", "mutual-tls"}},
    {"tls_min_version", {"1.2", "1.3"}},
};
// It consists of these letters.
constexpr std::pair<const char*, const char*> kLetterRules[] = {
    {"tls_ciphers", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:-"},
    {"instance", "0123456789abcdef"},
};

const Rule& RuleOf(const FieldDescriptor* field) {
  static const auto* const rules = [] {
    auto* const made = new std::unordered_map<const FieldDescriptor*, const Rule*>();
    for (const Rule& rule : kRules) {
      const std::string name = absl::StrCat("cqbench.control.v1.", rule.field);
      made->emplace(google::protobuf::DescriptorPool::generated_pool()->FindFieldByName(name), &rule);
    }
    return made;
  }();
  const auto found = rules->find(field);
  return found == rules->end() ? kEvents : *found->second;
}

template <typename... Parts>
absl::Status Impossible(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// A number of a message, or of the list that the field is.
double NumberOf(const Message& message, const FieldDescriptor* field, int i) {
  const auto& r = *message.GetReflection();
  const bool list = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return list ? r.GetRepeatedInt32(message, field, i) : r.GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(r.GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(list ? r.GetRepeatedUInt64(message, field, i) : r.GetUInt64(message, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r.GetDouble(message, field);
    default:
      return 0;  // no number: anything may be there
  }
}

// Goes through a message, and where there is one through its counterpart in the sample before.
class Walk {
 public:
  // A description.
  Walk() = default;
  // A pair of samples of one of `servers` servers.
  Walk(const ServerMoment& begin, const ServerMoment& end, size_t servers)
      : begin_ns_(static_cast<double>(begin.sample.taken_at_ns())),
        end_ns_(static_cast<double>(end.sample.taken_at_ns())),
        longest_(static_cast<double>(end.received_ns - begin.asked_ns)),
        largest_(static_cast<double>(INT64_MAX / 2) / static_cast<double>(servers)) {
    // The server has as many CPUs as it lists; an empty list says that it does not know.
    const int known = std::max({begin.sample.cpus_size(), end.sample.cpus_size(), static_cast<int>(end.cpus)});
    cpus_ = known == 0 ? kMostCpus : known;
    CheckClock(static_cast<double>(end.asked_ns - begin.received_ns));
  }

  void Check(const Message* before, const Message& message, const std::string& path) {
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count() && status_.ok(); ++i) {
      const FieldDescriptor* const field = type.field(i);
      if (RuleOf(field).kind != Kind::kNotHere) CheckField(before, message, field, absl::StrCat(path, field->name()));
    }
  }
  // Each part may be possible, and all together not.
  void CheckCpuInAll() {
    for (const auto& [name, ns] : {std::pair("threads", threads_ns_), std::pair("process", process_ns_)}) {
      if (ns <= Most(kCpuNs * cpus_)) continue;
      Refuse("its ", name, " used ", ns / kNanosPerSecond, " s of CPU in ", longest_ / kNanosPerSecond, " s on ", cpus_,
             " CPUs");
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  template <typename... Parts>
  void Refuse(const Parts&... parts) {
    if (status_.ok()) status_ = Impossible(parts...);
  }
  double Most(double per_second) const { return per_second * (longest_ + kSlack) / kNanosPerSecond; }

  // Both samples were taken while the client waited for them.
  void CheckClock(double shortest) {
    const double apart = end_ns_ - begin_ns_, slack = longest_ * kClockShare + kSlack;
    if (begin_ns_ < 0 || end_ns_ < 0) Refuse("it took a sample at a time below 0");
    if (apart < shortest - slack || apart > longest_ + slack) {
      Refuse("by its clock its samples are ", apart / kNanosPerSecond, " s apart, by this one ",
             shortest / kNanosPerSecond, " to ", longest_ / kNanosPerSecond);
    }
  }

  void CheckField(const Message* before, const Message& message, const FieldDescriptor* field,
                  const std::string& name) {
    const auto& reflection = *message.GetReflection();
    const Rule& rule = RuleOf(field);
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (field->is_repeated()) {
      const int count = reflection.FieldSize(message, field);
      const int earlier = before != nullptr ? reflection.FieldSize(*before, field) : count;
      if (std::max(count, earlier) > rule.most) return Refuse("it has ", std::max(count, earlier), " ", name);
      if (is_message) return CheckList(before, message, field, name);
      if (count != earlier) return Refuse("it has ", count, " ", name, " after ", earlier);
      for (int i = 0; i < count; ++i) CheckNumber(before, message, field, i, name);
      return;
    }
    const bool has = !field->has_presence() || reflection.HasField(message, field);
    const bool had = before != nullptr && field->has_presence() ? reflection.HasField(*before, field) : has;
    if (!is_message) {
      if (has || had) CheckNumber(before, message, field, 0, name);
    } else if (has != had) {
      Refuse("its ", name, " is in one sample only");
    } else if (has) {
      Check(before != nullptr ? &reflection.GetMessage(*before, field) : nullptr, reflection.GetMessage(message, field),
            absl::StrCat(name, "."));
    }
  }

  void CheckNumber(const Message* before, const Message& message, const FieldDescriptor* field, int i,
                   const std::string& name) {
    const Rule& rule = RuleOf(field);
    const double to = NumberOf(message, field, i);
    const double from = before != nullptr ? NumberOf(*before, field, i) : to;
    switch (rule.kind) {
      case Kind::kValue:
        CheckRange(rule, from, name);
        return CheckRange(rule, to, name);
      case Kind::kId:
        return;  // ById() has checked it
      case Kind::kClock:
        if (std::abs(to - end_ns_) > longest_ + kSlack)
          Refuse("its ", name, " is ", to - end_ns_, " ns after its sample");
        if (before != nullptr && to <= from) Refuse("its ", name, " is not after ", from);
        return;
      case Kind::kProcessCpu:
        process_ns_ += to - from;
        return CheckTotal(name, from, to, rule.max * cpus_);
      case Kind::kThreadCpu:
        threads_ns_ += to - from;
        return CheckTotal(name, from, to, rule.max);
      case Kind::kTicks:
        return CheckTotal(name, from > to && from - to < kSlack ? to : from, to, rule.max);
      default:
        return CheckTotal(name, from, to, rule.max);
    }
  }
  void CheckRange(const Rule& rule, double value, const std::string& name) {
    if (!(value >= rule.min && value <= rule.max && value == std::floor(value))) Refuse("its ", name, " is ", value);
  }
  void CheckTotal(const std::string& name, double from, double to, double per_second) {
    for (const double total : {from, to}) {
      if (total < 0 || total > largest_) return Refuse("its ", name, " is ", total);
    }
    if (to < from) return Refuse("its ", name, " went back from ", from, " to ", to);
    if (to - from <= Most(per_second)) return;
    Refuse("its ", name, " grew by ", to - from, " in ", longest_ / kNanosPerSecond, " s");
  }

  // Elements are compared with those of the same id. A thread that was not there before began at 0.
  void CheckList(const Message* before, const Message& message, const FieldDescriptor* field, const std::string& name) {
    using Elements = std::map<uint64_t, const Message*>;
    const Elements earlier = before != nullptr ? ById(*before, field, name) : Elements();
    const Message* const none =
        field->message_type() == ThreadSample::descriptor() ? &ThreadSample::default_instance() : nullptr;
    for (const auto& [id, element] : ById(message, field, name)) {
      const auto found = earlier.find(id);
      Check(found == earlier.end() ? none : found->second, *element, absl::StrCat(name, "[", id, "]."));
    }
  }
  // A list's elements by their first field.
  std::map<uint64_t, const Message*> ById(const Message& message, const FieldDescriptor* field,
                                          const std::string& name) {
    const FieldDescriptor* const key = field->message_type()->field(0);
    std::map<uint64_t, const Message*> by_id;
    for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
      const Message& element = message.GetReflection()->GetRepeatedMessage(message, field, i);
      CheckRange(RuleOf(key), NumberOf(element, key, 0), absl::StrCat(name, ".", key->name()));
      const auto& reflection = *element.GetReflection();
      const uint64_t id = key->cpp_type() == FieldDescriptor::CPPTYPE_UINT64
                              ? reflection.GetUInt64(element, key)
                              : static_cast<uint64_t>(reflection.GetInt32(element, key));
      if (!by_id.emplace(id, &element).second) Refuse("it has ", name, "[", id, "] twice");
    }
    return by_id;
  }

  absl::Status status_;
  const double begin_ns_ = 0, end_ns_ = 0;  // by the server's clock
  const double longest_ = 0;                // ns between the samples at most, by the client's clock
  const double largest_ = HUGE_VAL;         // of any total, so that the sum over all servers fits
  double cpus_ = kMostCpus;
  double threads_ns_ = 0, process_ns_ = 0;  // of CPU, between the samples
};

// Texts are shown and written into files: each becomes a clean name, and is cut where it is longer.
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

}  // namespace

absl::Status CleanAndValidate(ServerDescription& description) {
  CleanTexts(description);
  const auto field = [](const char* name) { return ServerDescription::descriptor()->FindFieldByName(name); };
  const auto text = [&](const char* name) { return description.GetReflection()->GetString(description, field(name)); };
  for (const auto& [name, words] : kWordRules) {
    const bool is_set = !field(name)->has_presence() || description.GetReflection()->HasField(description, field(name));
    if (is_set && std::find(words.begin(), words.end(), text(name)) == words.end()) {
      return Impossible("its ", name, " is '", text(name), "'");
    }
  }
  for (const auto& [name, letters] : kLetterRules) {
    if (text(name).find_first_not_of(letters) != std::string::npos) {
      return Impossible("its ", name, " is '", text(name), "'");
    }
  }
  Walk walk;
  walk.Check(nullptr, description, "");
  const std::set<int> cpus(description.cpus().begin(), description.cpus().end());
  if (walk.status().ok() && cpus.size() < static_cast<size_t>(description.cpus_size())) {
    return Impossible("it has one of its cpus twice");
  }
  return walk.status();
}

absl::Status ValidateHistogram(const control::v1::Histogram& histogram) {
  if (histogram.value_ns_size() != histogram.count_size()) {
    return Impossible("it has timed calls of ", histogram.value_ns_size(), " lengths and counted ",
                      histogram.count_size(), " of them");
  }
  uint64_t total = 0;
  for (const uint64_t count : histogram.count()) {
    if (count == 0) return Impossible("it has timed a call that it has not counted");
    if (count > kMostTimes || (total += count) > kMostTimes) {
      return Impossible("it has timed more calls than can be counted");
    }
  }
  const auto& values = histogram.value_ns();
  if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; })) {
    return Impossible("a call of its took less than no time");
  }
  return absl::OkStatus();
}

absl::Status ValidateSamples(const ServerMoment& begin, const ServerMoment& end, size_t servers) {
  for (const ServerMoment* moment : {&begin, &end}) {
    if (!moment->refused.empty()) return Impossible(moment->refused);
  }
  Walk walk(begin, end, servers);
  walk.Check(&begin.sample, end.sample, "");
  walk.CheckCpuInAll();
  return walk.status();
}

std::string NoteOfRefusal(const absl::Status& why) {
  return absl::StrCat("what its control service says cannot be (", std::string(why.message()),
                      "): its figures are absent");
}

}  // namespace cqbench
