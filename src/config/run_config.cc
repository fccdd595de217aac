#include "cqbench/run_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace cqbench {

absl::string_view ToString(ClientApi api) {
  switch (api) {
    case ClientApi::kSync:
      return "sync";
    case ClientApi::kCq:
      return "cq";
    case ClientApi::kCallback:
      return "callback";
    case ClientApi::kHttp1:
      return "http1";
    case ClientApi::kHttp2:
      return "http2";
  }
  return "?";
}

absl::string_view ToString(PollMode mode) {
  switch (mode) {
    case PollMode::kBlock:
      return "block";
    case PollMode::kSpin:
      return "spin";
    case PollMode::kNonPolling:
      return "non-polling";
  }
  return "?";
}

absl::string_view ToString(MessageStrategy strategy) {
  switch (strategy) {
    case MessageStrategy::kFresh:
      return "fresh";
    case MessageStrategy::kReused:
      return "reused";
    case MessageStrategy::kArena:
      return "arena";
    case MessageStrategy::kBytes:
      return "bytes";
  }
  return "?";
}

absl::string_view ToString(StubKind stub) {
  return stub == StubKind::kGenerated ? "generated" : "generic";
}

absl::string_view ToString(Serializer serializer) {
  return serializer == Serializer::kProtobuf ? "protobuf" : "pooled";
}

absl::string_view ToString(Content content) {
  return content == Content::kEmpty ? "empty" : "complex";
}

absl::string_view ToString(WriteHint hint) {
  switch (hint) {
    case WriteHint::kNone:
      return "none";
    case WriteHint::kBuffer:
      return "buffer";
    case WriteHint::kCorked:
      return "corked";
  }
  return "?";
}

absl::string_view ToString(Arrivals arrivals) {
  return arrivals == Arrivals::kPoisson ? "poisson" : "constant";
}

absl::string_view ToString(DataOrder order) {
  return order == DataOrder::kRotate ? "rotate" : "random";
}

absl::string_view ToString(AtLimit at_limit) {
  return at_limit == AtLimit::kQueue ? "queue" : "drop";
}

absl::string_view ToString(Pace pace) {
  switch (pace) {
    case Pace::kSleep:
      return "sleep";
    case Pace::kHybrid:
      return "hybrid";
    case Pace::kSpin:
      return "spin";
  }
  return "?";
}

int ResponsesPerCall(const MethodInfo& method, const MessageConfig& config) {
  return method.shape == Shape::kServerStreaming ? config.stream_messages : 1;
}

uint64_t ChunkBytesPerCall(const MethodInfo& method, const MessageConfig& config) {
  if (!method.streams_chunks()) return 0;
  const uint32_t chunk = method.shape == Shape::kClientStreaming ? config.request_bytes : config.response_bytes;
  return static_cast<uint64_t>(config.stream_messages) * chunk;
}

std::string Load::Label() const {
  return open() ? absl::StrFormat("rate %.10g/s", rate) : absl::StrCat("in-flight ", slots);
}

std::string Load::Key() const {
  return open() ? absl::StrFormat("rate:%.10g", rate) : absl::StrCat("inflight:", slots);
}

absl::StatusOr<ChannelArg> ParseChannelArg(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not KEY=VALUE"));
  }
  ChannelArg arg{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (int number = 0; absl::SimpleAtoi(text.substr(equals + 1), &number)) arg.value = number;
  return arg;
}

absl::StatusOr<Metadata> ParseMetadata(absl::string_view text) {
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos || colon == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not KEY: VALUE"));
  }
  Metadata metadata{absl::AsciiStrToLower(text.substr(0, colon)),
                    std::string(absl::StripAsciiWhitespace(text.substr(colon + 1)))};
  const auto is_legal = [](unsigned char c) {
    return absl::ascii_isdigit(c) || absl::ascii_islower(c) || c == '-' || c == '_' || c == '.';
  };
  if (!std::all_of(metadata.key.begin(), metadata.key.end(), is_legal) || absl::StartsWith(metadata.key, "grpc-")) {
    return absl::InvalidArgumentError(absl::StrCat("'", text.substr(0, colon),
                                                   "' is no key: letters, digits, - _ and . are accepted, and grpc- is "
                                                   "the library's own"));
  }
  if (absl::EndsWith(metadata.key, "-bin")) {
    std::string bytes;
    if (!absl::Base64Unescape(metadata.value, &bytes)) {
      return absl::InvalidArgumentError(absl::StrCat("the value of '", metadata.key, "' is not base64"));
    }
    metadata.value = std::move(bytes);
  } else if (!std::all_of(metadata.value.begin(), metadata.value.end(),
                          [](unsigned char c) { return absl::ascii_isprint(c); })) {
    return absl::InvalidArgumentError(
        absl::StrCat("the value of '", metadata.key, "' is not printable ASCII: a key that ends in -bin takes base64"));
  }
  return metadata;
}

absl::StatusOr<HttpCall> ParseHttpCall(absl::string_view text) {
  constexpr size_t kMaxTarget = 8000;
  const size_t space = text.find(' ');
  HttpCall call;
  if (space != absl::string_view::npos) {
    call = {std::string(text.substr(0, space)), std::string(text.substr(space + 1)), "", ""};
  }
  const bool method = !call.method.empty() && call.method.size() <= 32 &&
                      std::all_of(call.method.begin(), call.method.end(),
                                  [](unsigned char c) { return absl::ascii_isupper(c) || c == '-'; });
  const bool target = absl::StartsWith(call.target, "/") && call.target.size() <= kMaxTarget &&
                      std::all_of(call.target.begin(), call.target.end(),
                                  [](unsigned char c) { return absl::ascii_isgraph(c) && c != '#'; });
  if (method && target) return call;
  return absl::InvalidArgumentError(
      absl::StrCat("'", text,
                   "' is not METHOD TARGET, as in 'GET /v1/books?page_size=2': the method in capitals, a "
                   "target that begins with / and has no spaces (percent-encode them)"));
}

absl::StatusOr<Nanos> ParseDuration(absl::string_view text, Nanos min_ns) {
  absl::Duration duration;
  if (double seconds = 0; absl::SimpleAtod(text, &seconds)) {
    duration = std::isfinite(seconds) ? absl::Seconds(seconds) : absl::InfiniteDuration();
  } else if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a duration: a number of seconds, or a number with ns, us, ms, s, m or h"));
  }
  if (duration < absl::Nanoseconds(min_ns) || duration > absl::Hours(24)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is out of range: accepted is ",
                                                   min_ns > 0 ? "more than 0 and" : "0 or more,", " up to 24h"));
  }
  return absl::ToInt64Nanoseconds(duration);
}

absl::StatusOr<uint32_t> ParseBytes(absl::string_view text, uint32_t max) {
  static constexpr std::pair<absl::string_view, uint64_t> kUnits[] = {
      {"KiB", 1024}, {"MiB", 1024 * 1024}, {"kB", 1000}, {"MB", 1'000'000}, {"B", 1}};
  absl::string_view digits = text;
  uint64_t unit = 1;
  for (const auto& [name, bytes] : kUnits) {
    if (!absl::ConsumeSuffix(&digits, name)) continue;
    unit = bytes;
    break;
  }
  uint32_t number = 0;
  if (!absl::SimpleAtoi(digits, &number)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a size: a whole number of bytes, or one with B, kB, MB, KiB or MiB"));
  }
  if (number * unit > max) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is out of range: accepted is 0 to ", max, " bytes"));
  }
  return static_cast<uint32_t>(number * unit);
}

absl::StatusOr<double> ParseByteRate(absl::string_view text) {
  static constexpr std::pair<absl::string_view, double> kUnits[] = {
      {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"MiB/s", 8 << 20}, {"bit/s", 1}};
  constexpr double kMaxBits = 1e12;
  for (const auto& [name, bits] : kUnits) {
    absl::string_view digits = text;
    double number = 0;
    if (!absl::ConsumeSuffix(&digits, name) || !absl::SimpleAtod(digits, &number)) continue;
    if (number > 0 && number * bits <= kMaxBits) return number * bits;
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is out of range: accepted is more than 0 and up to 1000Gbit/s"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a rate of data: a number with bit/s, kbit/s, Mbit/s, Gbit/s or MiB/s"));
}

std::string FormatDuration(Nanos ns) {
  return absl::FormatDuration(absl::Nanoseconds(ns));
}

std::vector<int> SweepRange(int min, int max, int step) {
  std::vector<int> values;
  for (int v = min; v < max; v += step) values.push_back(v);
  values.push_back(max);
  return values;
}

namespace {

// Numbers separated by commas, each as `parse` takes it, none twice.
template <typename T, typename Parse>
absl::StatusOr<std::vector<T>> ParseList(absl::string_view text, absl::string_view what, Parse parse) {
  std::vector<T> values;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    T value{};
    if (!parse(item, value)) return absl::InvalidArgumentError(absl::StrCat("'", item, "' is not ", what));
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      return absl::InvalidArgumentError(absl::StrCat("'", item, "' is given twice; --repetitions measures again"));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

absl::StatusOr<std::vector<int>> ParseInflightList(absl::string_view text) {
  return ParseList<int>(
      text, absl::StrCat("an in-flight count: whole numbers from 1 to ", kMaxInflight, ", separated by commas"),
      [](absl::string_view item, int& n) { return absl::SimpleAtoi(item, &n) && n >= 1 && n <= kMaxInflight; });
}

std::vector<double> RateRange(double min, double max, double step) {
  std::vector<double> values;
  for (int i = 0; min + i * step < max; ++i) values.push_back(min + i * step);
  values.push_back(max);
  return values;
}

absl::StatusOr<std::vector<double>> ParseRateList(absl::string_view text) {
  return ParseList<double>(
      text, absl::StrFormat("a rate: numbers above 0 up to %.0f, calls per second, separated by commas", kMaxRate),
      [](absl::string_view item, double& rate) {
        return absl::SimpleAtod(item, &rate) && rate > 0 && rate <= kMaxRate;
      });
}

}  // namespace cqbench
