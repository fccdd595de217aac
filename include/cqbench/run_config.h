// The client's task: plain data, validated once (src/config/validate.h), immutable afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cqbench/channel_policy.h"
#include "cqbench/method_info.h"
#include "src/base/clock.h"
#include "src/base/target.h"
#include "src/config/client_api.h"
#include "src/config/http_call.h"
#include "src/config/load.h"
#include "src/config/messages.h"
#include "src/config/security.h"
#include "src/config/wire_settings.h"

namespace cqbench {

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
  Nanos bucket_ns = 0;      // of the time series; 0: a 50th of the interval, but at least 100 ms
  uint64_t skip_first = 0;  // closed loop: the warm-up also lasts until this number of successes
  uint64_t total = 0;       // the window ends after this number of successes, if that is sooner; 0: no limit
  std::optional<Nanos> deadline_ns = kNanosPerSecond;  // per call; per message of a bidi stream; absent: none is set
  Nanos connect_timeout_ns = 5 * kNanosPerSecond;
  bool wait_for_server = false;  // go on trying for so long even where nobody listens
  bool wait_for_ready = false;   // calls wait for a connection, until their deadline, rather than fail
  int repetitions = 1;
  double until_stable_percent = 0;  // repeat until the throughputs' intervals are this narrow; 0: do not
  int max_repetitions = 50;         // for the line above
  bool evidence = true;             // sample both ends at the window boundaries
  int server_pid = 0;               // a server on this machine to look at, which has no control service; 0: none
  bool breakdown = false;           // time the parts of a sample of the calls
  bool lower_bound = false;         // measure the lower bounds in every repetition
  Security security;                // of all connections to targets and control services
  std::vector<Metadata> metadata;   // of every call
  GeneratedMetadata generated_metadata;
  ClientCompression compression;
  std::vector<ChannelArg> channel_args;
  std::string service_config;  // JSON; empty: none
};

}  // namespace cqbench
