#include "src/ranks/rank_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/clean_text.h"
#include "src/base/files.h"
#include "src/ranks/live_merge.h"
#include "src/ranks/rank_merge.h"
#include "src/ranks/rank_report.h"
#include "src/result/objective.h"

namespace cqbench {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxFileBytes = size_t{1} << 30;
constexpr int kMaxDepth = 16;  // what is nested deeper is left out
constexpr size_t kShownBytes = 60;

// Settings that may differ from rank to rank: the machine, when it began, and what it drew. The others must not.
constexpr std::array<absl::string_view, 23> kOwn = {
    "date",     "host_name",     "executable", "num_cpus",         "mhz_per_cpu",   "cpu_scaling_enabled",
    "load_avg", "command_line",  "affinity",   "cpu_model",        "kernel",        "boot_id",
    "caches",   "clock_source",  "servers",    "warnings",         "notes",         "partial",
    "compiler", "schedule_seed", "data_seed",  "protobuf_version", "peer_settings",
};
// Numbers of calls that the ranks divide: their shares may differ by one.
constexpr const char* kShares[] = {"total_calls", "skip_first"};
// Flags whose value is a rank's own.
constexpr std::array<absl::string_view, 5> kOwnFlags = {"--rank", "--output", "--client-cpus", "--schedule-seed",
                                                        "--data-seed"};
// Parts of a file that each rank has for itself.
constexpr const char* kLeftOut[] = {"lower_bounds", "allocation_sites"};

bool IsIn(const auto& list, absl::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

struct RankFile {
  std::string path;
  OrderedJson context;
  std::vector<std::string> reports;
  std::vector<int> repetitions;  // of each report
  RankResult rank;
  std::set<std::string> left_out;
};

absl::Status Refuse(const auto&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// The value of a key, or null.
const OrderedJson& At(const OrderedJson& object, const std::string& key) {
  static const OrderedJson kAbsent;
  if (!object.is_object()) return kAbsent;
  const auto found = object.find(key);
  return found == object.end() ? kAbsent : *found;
}

std::string TextAt(const OrderedJson& object, const std::string& key) {
  const OrderedJson& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

uint64_t WholeAt(const OrderedJson& object, const std::string& key) {
  const OrderedJson& number = At(object, key);
  return number.is_number_unsigned() ? number.get<uint64_t>() : 0;
}

absl::Status ReadReport(const OrderedJson& text, RankFile& file) {
  std::string bytes;
  if (!text.is_string() || !absl::Base64Unescape(text.get<std::string>(), &bytes)) {
    return Refuse(file.path, ": a report in 'rank_reports' is not base64");
  }
  auto report = DecodeRankReport(bytes);
  if (!report.ok()) return Refuse(file.path, ": ", report.status().message());
  const RankResult& rank = *report->point.rank;
  const bool same = file.reports.empty() || (rank.index == file.rank.index && rank.count == file.rank.count);
  if (!same) return Refuse(file.path, ": its points are of different ranks");
  file.rank = rank;
  file.repetitions.push_back(report->point.repetition);
  file.reports.push_back(std::move(bytes));
  return absl::OkStatus();
}

absl::StatusOr<RankFile> ReadRankFile(const std::string& path) {
  RankFile file;
  file.path = CleanText(path, kShownBytes * 10);
  const auto text = ReadFile(path, kMaxFileBytes);
  if (!text.ok()) return Refuse(file.path, ": ", text.status().message());
  const auto shallow = [](int depth, OrderedJson::parse_event_t, OrderedJson&) { return depth <= kMaxDepth; };
  const OrderedJson json = OrderedJson::parse(*text, shallow, /*allow_exceptions=*/false);
  if (!json.is_object() || !At(json, "context").is_object()) return Refuse(file.path, ": it is not a result");
  file.context = At(json, "context");
  if (const OrderedJson& version = At(file.context, "schema_version"); version != kSchemaVersion) {
    return Refuse(file.path, ": schema_version ", version.dump(), ": ranks are merged from files of ", kSchemaVersion);
  }
  const OrderedJson& reports = At(json, "rank_reports");
  if (!reports.is_array() || reports.empty()) {
    return Refuse(file.path, ": it has no 'rank_reports': it is not the file of one of several client processes");
  }
  for (const OrderedJson& report : reports) {
    if (const absl::Status read = ReadReport(report, file); !read.ok()) return read;
  }
  for (const char* key : kLeftOut) {
    if (const OrderedJson& part = At(json, key); !part.is_null() && !part.empty()) file.left_out.insert(key);
  }
  return file;
}

std::string Shown(const OrderedJson& value) {
  return value.is_null() ? "absent" : CleanText(value.dump(), kShownBytes);
}

// Returns the task of all ranks: the command without the program's path and each rank's own flags.
std::vector<std::string> Command(const OrderedJson& context) {
  std::vector<std::string> kept;
  bool skip = true;
  for (const OrderedJson& each : At(context, "command_line")) {
    const std::string word = each.is_string() ? each.get<std::string>() : "";
    if (std::exchange(skip, false)) continue;
    const std::vector<std::string> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    const bool own = IsIn(kOwnFlags, parts.front());
    if (!own) kept.push_back(word);
    skip = own && parts.size() == 1;
  }
  return kept;
}

absl::Status CheckCommands(const RankFile& one, const RankFile& first) {
  const std::vector<std::string> ours = Command(one.context), theirs = Command(first.context);
  if (ours == theirs) return absl::OkStatus();
  std::string differs = "their order";
  for (const auto& [these, those] : {std::pair(&theirs, &ours), std::pair(&ours, &theirs)}) {
    for (auto word = these->rbegin(); word != these->rend(); ++word) {
      if (!IsIn(*those, *word)) differs = *word;
    }
  }
  return Refuse(one.path, ": not of the same measurement as ", first.path, ": the commands differ (",
                CleanText(differs, kShownBytes), ")");
}

absl::Status CheckSame(const RankFile& one, const RankFile& first) {
  if (one.rank.count != first.rank.count) {
    return Refuse(one.path, ": not of the same measurement: one of ", one.rank.count, " ranks, ", first.path,
                  " one of ", first.rank.count);
  }
  std::set<std::string> keys;
  for (const OrderedJson* context : {&one.context, &first.context}) {
    for (const auto& item : context->items()) keys.insert(item.key());
  }
  for (const std::string& key : keys) {
    const OrderedJson &ours = At(one.context, key), &theirs = At(first.context, key);
    if (ours == theirs || IsIn(kOwn, key) || IsIn(kShares, key)) continue;
    return Refuse(one.path, ": not of the same measurement: '", CleanText(key, kShownBytes), "' is ", Shown(ours),
                  ", in ", first.path, " ", Shown(theirs));
  }
  for (size_t point = 0; point < std::min(one.repetitions.size(), first.repetitions.size()); ++point) {
    if (one.repetitions[point] == first.repetitions[point]) continue;
    return Refuse(one.path, ": not of the same measurement as ", first.path, ": point ", point + 1,
                  " is of another repetition");
  }
  return CheckCommands(one, first);
}

absl::StatusOr<std::vector<RankFile>> ReadRankFiles(const std::vector<std::string>& paths) {
  std::vector<RankFile> files;
  for (const std::string& path : paths) {
    auto file = ReadRankFile(path);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  std::stable_sort(files.begin(), files.end(), [](auto& a, auto& b) { return a.rank.index < b.rank.index; });
  for (size_t i = 1; i < files.size(); ++i) {
    if (files[i].rank.index == files[i - 1].rank.index) {
      return Refuse(files[i].path, ": rank ", files[i].rank.index, " is there twice: ", files[i - 1].path,
                    " is of it, too");
    }
    if (const absl::Status same = CheckSame(files[i], files.front()); !same.ok()) return same;
  }
  return files;
}

// Returns the context of the first rank, with every rank's reports about the run.
OrderedJson MergedContext(const std::vector<RankFile>& files, const Result& result) {
  OrderedJson context = files.front().context;
  for (const char* key : kShares) {
    uint64_t calls = 0;
    for (const RankFile& file : files) calls += WholeAt(file.context, key);
    if (calls > 0) context[key] = calls;
  }
  for (const char* key : {"warnings", "notes"}) {
    OrderedJson all = OrderedJson::array();
    for (const RankFile& file : files) {
      for (const OrderedJson& each : At(file.context, key)) {
        if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
      }
    }
    context[key] = std::move(all);
  }
  for (const char* key : {"servers", "peer_settings"}) {
    for (const RankFile& file : files) {
      const OrderedJson& servers = At(file.context, key);
      if (At(context, key).empty() && !servers.empty()) context[key] = servers;
    }
  }
  context["partial"] = result.partial;
  return context;
}

// Sets `value` where the file has a name of one of its enumeration's values.
template <NamedEnum E>
void ReadName(const OrderedJson& json, const char* key, E& value) {
  value = FromString<E>(TextAt(json, key)).value_or(value);
}
template <typename T>
void ReadParsed(const absl::StatusOr<T>& parsed, T& value) {
  if (parsed.ok()) value = *parsed;
}

// The settings that reporters other than JSON's use.
RunConfig ReadSettings(const OrderedJson& json) {
  RunConfig run;
  run.method.workload = TextAt(json, "workload");
  run.method.name = TextAt(json, "method");
  ReadName(json, "api", run.api);
  ReadName(json, "messages", run.messages);
  ReadName(json, "stub", run.stub);
  ReadName(json, "serializer", run.serializer);
  ReadName(json, "arrivals", run.schedule.arrivals);
  ReadName(json, "at_limit", run.schedule.at_limit);
  ReadName(json, "pace", run.schedule.pace);
  run.schedule.seed = WholeAt(json, "schedule_seed");
  ReadParsed(ParseTargets(TextAt(json, "target"), 0), run.targets);
  ReadParsed(ParseChannelPolicy(TextAt(json, "channel_policy")), run.policy);
  ReadParsed(ParseGeneratedMetadata(TextAt(json, "generated_metadata")), run.generated_metadata);
  ReadParsed(ParseClientCompression(TextAt(json, "compression")), run.compression);
  if (IsHttp(run.api)) run.http = std::make_shared<const HttpCall>();
  if (At(json, "deadline_ns").is_null()) run.deadline_ns.reset();
  run.security.tls = !TextAt(json, "security").empty();
  return run;
}

std::optional<uint32_t> SettingAt(const OrderedJson& json, const char* key) {
  const OrderedJson& number = At(json, key);
  if (!number.is_number_unsigned() || number.get<uint64_t>() > UINT32_MAX) return std::nullopt;
  return number.get<uint32_t>();
}

std::vector<PeerSettings> ReadPeerSettings(const OrderedJson& context) {
  std::vector<PeerSettings> peers;
  for (const OrderedJson& json : At(context, "peer_settings")) {
    const Http2Settings announced = {SettingAt(json, "max_concurrent_streams"), SettingAt(json, "initial_window_bytes"),
                                     SettingAt(json, "max_frame_bytes"), SettingAt(json, "max_header_list_bytes")};
    peers.push_back({CleanText(TextAt(json, "target"), kShownBytes * 5), announced,
                     CleanText(TextAt(json, "not_read"), kShownBytes * 5)});
  }
  return peers;
}

RunContext ReadContext(const OrderedJson& json) {
  RunContext context;
  context.environment.cpu_model = TextAt(json, "cpu_model");
  context.environment.grpc_version = TextAt(json, "grpc_version");
  context.run = ReadSettings(json);
  context.objective = TextAt(json, "objective");
  if (const std::string version = TextAt(json, "tls_version"); !version.empty()) {
    const bool mutual = TextAt(json, "security") == "mutual-tls";
    context.negotiated.push_back({version, TextAt(json, "tls_cipher"), TextAt(json, "tls_alpn"), mutual});
  }
  return context;
}

}  // namespace

absl::StatusOr<Result> MergeRankFiles(const std::vector<std::string>& paths) {
  const auto files = ReadRankFiles(paths);
  if (!files.ok()) return files.status();
  const RankFile& first = files->front();
  Result result;
  result.context = ReadContext(first.context);
  const auto objective = result.context.objective.empty() ? Objective() : ParseObjective(result.context.objective);
  if (!objective.ok()) return Refuse(first.path, ": 'objective': ", objective.status().message());
  size_t points = 0;
  for (const RankFile& file : *files) {
    points = std::max(points, file.reports.size());
    result.partial = result.partial || At(file.context, "partial") == true;
    result.context.repetitions = std::max(result.context.repetitions, file.repetitions.back() + 1);
  }
  std::vector<PointResult> merged;
  RankSetting setting;
  for (size_t point = 0; point < points; ++point) {
    std::vector<std::string> by_rank(static_cast<size_t>(first.rank.count));
    for (const RankFile& file : *files) {
      if (point < file.reports.size()) by_rank[static_cast<size_t>(file.rank.index)] = file.reports[point];
    }
    merged.push_back(MergeRanks(by_rank, *objective, setting));
  }
  TakeMerged(merged, setting, result);
  for (const PointResult& point : merged) result.context.run.points.push_back(point.load);
  const OrderedJson context = MergedContext(*files, result);
  result.peer_settings = ReadPeerSettings(context);
  result.context.of_file = context.dump();
  return result;
}

}  // namespace cqbench
