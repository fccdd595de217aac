// What the client was asked to do: plain data, checked once, immutable afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/channel_policy.h"
#include "cqbench/method_info.h"
#include "src/base/clock.h"
#include "src/base/target.h"
#include "src/config/payload_content.h"
#include "src/config/security.h"
#include "src/config/wire_settings.h"

namespace cqbench {

// How calls are made: through gRPC's blocking stubs, its completion queues or its reactors; or as requests of plain
// HTTP.
enum class ClientApi { kSync, kCq, kCallback, kHttp1, kHttp2 };
inline bool IsHttp(ClientApi api) {
  return api == ClientApi::kHttp1 || api == ClientApi::kHttp2;
}
// How threads take events from a completion queue: asleep in the library, which polls sockets there; asking all the
// time; or asleep on a queue that polls nothing (GRPC_CQ_NON_POLLING), where the library has other threads that do.
enum class PollMode { kBlock, kSpin, kNonPolling };
// How request and response objects live: constructed for each message; one that is used again and again; on a protobuf
// arena that is reset for each message; or not at all, only their bytes (through the generic stub or service).
enum class MessageStrategy { kFresh, kReused, kArena, kBytes };
enum class StubKind { kGenerated, kGeneric };
// What turns messages into bytes and back: what the library does for generated code, or
// src/workload/messages/with_serializer.h with memory that is used again (through the generic stub or service).
enum class Serializer { kProtobuf, kReusingBuffers };
enum class Content { kEmpty, kComplex };
// What streams that write many messages tell the library of each but the last: nothing; that it may wait for more to
// send together (WriteOptions::set_buffer_hint); the same, and the headers wait for the first message.
enum class WriteHint { kNone, kBuffer, kCorked };
enum class Arrivals { kPoisson, kConstant };
// Which of several requests that were given is sent next: in turn, or drawn at random.
enum class DataOrder { kRotate, kRandom };
// What happens to a call that is due while all slots are taken: it waits, keeping its due time, or it is dropped.
enum class AtLimit { kQueue, kDrop };
// How the pacer waits for the next due time: asleep, asleep until shortly before it, or asking the clock all the time.
enum class Pace { kSleep, kHybrid, kSpin };

absl::string_view ToString(ClientApi api);
absl::string_view ToString(PollMode mode);
absl::string_view ToString(MessageStrategy strategy);
absl::string_view ToString(StubKind stub);
absl::string_view ToString(Serializer serializer);
absl::string_view ToString(Content content);
absl::string_view ToString(WriteHint hint);
absl::string_view ToString(Arrivals arrivals);
absl::string_view ToString(DataOrder order);
absl::string_view ToString(AtLimit at_limit);
absl::string_view ToString(Pace pace);

struct ChannelArg {
  std::string key;
  std::variant<int, std::string> value;
};
// "key=value"; a value that is a whole number in the range of int becomes one.
absl::StatusOr<ChannelArg> ParseChannelArg(absl::string_view text);

struct Metadata {
  std::string key;
  std::string value;  // bytes, where the key ends in -bin
};
// "key: value"; the value of a key that ends in -bin is base64. INVALID_ARGUMENT for what gRPC does not take.
absl::StatusOr<Metadata> ParseMetadata(absl::string_view text);

// A number of seconds ("10", "0.5") or a number with a unit ("500ms", "2m"). INVALID_ARGUMENT unless it is at least
// `min_ns` and at most a day.
absl::StatusOr<Nanos> ParseDuration(absl::string_view text, Nanos min_ns = 1);
// A number of bytes ("1000") or a whole number with a unit: B, kB, MB (thousands), KiB, MiB (1024ths). INVALID_ARGUMENT
// unless it is at most `max`.
absl::StatusOr<uint32_t> ParseBytes(absl::string_view text, uint32_t max);
// A rate of data: a number with bit/s, kbit/s, Mbit/s, Gbit/s (thousands) or MiB/s. In bits per second.
// INVALID_ARGUMENT unless it is above 0 and at most a terabit per second.
absl::StatusOr<double> ParseByteRate(absl::string_view text);
// The shortest exact form: "500ms", "10s".
std::string FormatDuration(Nanos ns);

inline constexpr int kMaxInflight = 100'000;
inline constexpr double kMaxRate = 10e6;  // calls per second
inline constexpr int kMaxStreamMessages = 1'000'000;
inline constexpr uint32_t kMaxPayloadBytes = 64u << 20;
// Of a time series. Each thread that records calls has slices of its own, some 10 KiB each once there is something in
// them.
inline constexpr Nanos kMinSlice = kNanosPerMilli;
inline constexpr int kMaxSlices = 1000;
inline constexpr int kMaxSlicesOfThreads = 25'000;

// The in-flight counts min, min+step, … up to and including max.
std::vector<int> SweepRange(int min, int max, int step);
// "1,2,4": each in 1..kMaxInflight, none twice.
absl::StatusOr<std::vector<int>> ParseInflightList(absl::string_view text);

// The rates min, min+step, … up to and including max.
std::vector<double> RateRange(double min, double max, double step);
// "1000,2000": each in (0, kMaxRate], none twice.
absl::StatusOr<std::vector<double>> ParseRateList(absl::string_view text);

// What one point of a sweep asks of the server.
struct Load {
  int slots = 1;    // calls in flight: always so many in a closed loop, at most so many in an open one
  double rate = 0;  // calls per second over all slots; 0: a closed loop

  bool open() const { return rate > 0; }
  // What the points of a sweep differ by: "in-flight 8", "rate 2000/s" for people; "inflight:8", "rate:2000" in names.
  std::string Label() const;
  std::string Key() const;
  bool operator==(const Load&) const = default;
};

// Open loop only.
struct ScheduleConfig {
  Arrivals arrivals = Arrivals::kPoisson;
  AtLimit at_limit = AtLimit::kQueue;
  Pace pace = Pace::kHybrid;
  uint64_t seed = 1;
};

// What requests carry and ask for, for methods with a payload or with contents to choose from.
struct MessageConfig {
  uint32_t request_bytes = 0;
  uint32_t response_bytes = 0;
  PayloadContent payload{};
  uint64_t payload_seed = 1;
  int stream_messages = 16;  // of a client- or server-streaming call
  Content content = Content::kEmpty;
};

// How many messages a server answers in a call that ends well (bidi: to one message of ours).
int ResponsesPerCall(const MethodInfo& method, const MessageConfig& config);

// Payload of all messages that a client- or server-streaming call of chunks moves; 0 for other methods.
uint64_t ChunkBytesPerCall(const MethodInfo& method, const MessageConfig& config);

// What is sent for each call over HTTP.
struct HttpCall {
  std::string method;  // "GET"
  std::string target;  // "/v1/shelves/1/books/2?view=FULL"
  std::string body;
  // The body of a right answer, JSON without white space; empty: any answer of 200 to 299 is a right one.
  std::string expected;
};
inline constexpr size_t kMaxHttpFields = 100;
// "METHOD TARGET"; INVALID_ARGUMENT for what no server would take.
absl::StatusOr<HttpCall> ParseHttpCall(absl::string_view text);
// What a method of ours is as a request of HTTP; absent when it is none.
std::optional<HttpCall> HttpCallOf(const MethodInfo& method, const MessageConfig& config);

struct BytesMethod;  // src/workload/methods/bytes_method.h

struct RunConfig {
  std::vector<Target> targets;
  std::vector<Target> control;  // where the servers' control services are, if not at the targets
  MethodInfo method;
  std::shared_ptr<const BytesMethod> call;  // of a method that is none of ours; nullptr: `method` is
  std::shared_ptr<const HttpCall> http;     // with the HTTP APIs, which have no `call`
  ClientApi api = ClientApi::kSync;
  MessageStrategy messages = MessageStrategy::kReused;
  StubKind stub = StubKind::kGenerated;           // generic where messages are bytes, or pooled
  Serializer serializer = Serializer::kProtobuf;  // says nothing where messages are bytes
  WriteHint write_hint = WriteHint::kNone;        // of client-streaming calls
  PollMode poll = PollMode::kBlock;
  int threads = 0;  // completion-queue threads; 0: the CPUs that the process may run on
  ChannelPolicy policy;
  std::vector<Load> points;
  ScheduleConfig schedule;
  MessageConfig message;
  Nanos warmup_ns = kNanosPerSecond;
  Nanos interval_ns = 10 * kNanosPerSecond;
  Nanos slice_ns = 0;       // of the time series; 0: a 50th of the interval, but at least 100 ms
  uint64_t skip_first = 0;  // closed loop: the warm-up lasts until so many successes, too
  uint64_t total = 0;       // end the window after so many successes, if that is sooner; 0: do not
  std::optional<Nanos> deadline_ns = kNanosPerSecond;  // per call; per message of a bidi stream; absent: none is set
  Nanos connect_timeout_ns = 5 * kNanosPerSecond;
  bool wait_for_server = false;  // go on trying for so long even where nobody listens
  bool wait_for_ready = false;   // calls wait for a connection, until their deadline, rather than fail
  int repetitions = 1;
  double until_stable_percent = 0;  // repeat until the throughputs' intervals are this narrow; 0: do not
  int max_repetitions = 50;         // for the line above
  bool evidence = true;             // sample both ends at the edges of the window
  int server_pid = 0;               // a server on this machine to look at, which has no control service; 0: none
  bool breakdown = false;           // time the parts of a sample of the calls
  bool baseline = false;            // measure the floor in every repetition
  Security security;                // of all connections to targets and control services
  std::vector<Metadata> metadata;   // of every call
  GeneratedMetadata generated_metadata;
  ClientCompression compression;
  std::vector<ChannelArg> channel_args;
  std::string service_config;  // JSON; empty: none
};

}  // namespace cqbench
