#include "src/cli/client/ghz_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/clean_text.h"
#include "src/base/files.h"
#include "src/config/load.h"
#include "src/config/wire_settings.h"

namespace cqbench {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxConfigBytes = 64u << 20;
constexpr size_t kMostOfName = 64;  // of a field that is named to people
constexpr char kWithoutLimit[] = "1h";

// Flags that say the same thing: one on the command line takes all of the file's out.
const std::vector<std::vector<std::string>> kGroups = {
    {"--host", "--port"},
    {"--proto", "--protoset", "--import-path"},
    {"--channel-policy", "--local-pool", "--max-channels"},
    {"--inflight", "--min-inflight", "--max-inflight", "--inflight-step", "--inflight-list", "--rate", "--rate-list",
     "--min-rate", "--max-rate", "--rate-step", "--find-rate", "--max-outstanding"},
};
// An open loop of the command line has no room for these.
const std::vector<std::string> kOpen = {"--rate", "--rate-list", "--max-rate", "--find-rate"};

class Reader {
 public:
  Reader(Json json, const std::vector<std::string>& given) : json_(std::move(json)), given_(given) {}

  GhzFlags Read() {
    Copy("call", "--call");
    Copy("host", "--host");
    Copy("proto", "--proto");
    Copy("protoset", "--protoset");
    ImportPaths();
    Timeout();
    Copy("keepalive", "--keepalive");
    if (Take("enable-compression", &Json::is_boolean).value_or(false).get<bool>()) Add("--compression", "call:gzip");
    Copy("connect-timeout", "--connect-timeout");
    Load();
    Data();
    Metadata();
    Tls();
    for (const auto& [key, value] : json_.items()) unused_.push_back(CleanText(key, kMostOfName));
    if (!unused_.empty()) {
      flags_.notes.push_back(absl::StrCat("not used, for want of a counterpart: ", absl::StrJoin(unused_, ", ")));
    }
    return std::move(flags_);
  }
  const std::string& error() const { return error_; }

 private:
  // The field, which is gone then.
  std::optional<Json> Take(const std::string& key, bool (Json::*is)() const noexcept) {
    const auto found = json_.find(key);
    if (found == json_.end()) return std::nullopt;
    Json value = std::move(*found);
    json_.erase(found);
    if ((value.*is)()) return std::optional<Json>(std::in_place, std::move(value));
    if (error_.empty()) error_ = absl::StrCat("'", key, "' is ", value.type_name(), ", not what ghz has there");
    return std::nullopt;
  }
  std::string Text(const std::string& key) { return Take(key, &Json::is_string).value_or("").get<std::string>(); }
  double Number(const std::string& key) { return Take(key, &Json::is_number).value_or(0).get<double>(); }
  uint64_t Count(const std::string& key) {
    return Take(key, &Json::is_number_unsigned).value_or(uint64_t{0}).get<uint64_t>();
  }

  bool Given(const std::string& flag) const {
    return std::any_of(given_.begin(), given_.end(), [&](const std::string& argument) {
      return argument == flag || absl::StartsWith(argument, flag + "=");
    });
  }
  bool Overruled(const std::string& flag) const {
    for (const auto& group : kGroups) {
      if (std::find(group.begin(), group.end(), flag) != group.end()) {
        return std::any_of(group.begin(), group.end(), [this](const std::string& each) { return Given(each); });
      }
    }
    return Given(flag);
  }
  void Add(const std::string& flag, const std::string& value) {
    if (!value.empty() && !Overruled(flag)) flags_.arguments.push_back(absl::StrCat(flag, "=", value));
  }
  void Copy(const std::string& key, const std::string& flag) { Add(flag, Text(key)); }

  void ImportPaths() {
    for (const Json& path : Take("import-paths", &Json::is_array).value_or(Json::array())) {
      if (path.is_string()) Add("--import-path", path.get<std::string>());
    }
  }

  // 0 is none.
  void Timeout() {
    const std::string text = Text("timeout");
    const bool none = absl::StartsWith(text, "0") && text.find_first_of("123456789") == std::string::npos;
    Add("--deadline", none ? "none" : text);
  }

  // Calls in flight, or calls a second; until when.
  void Load() {
    const uint64_t concurrency = Count("concurrency"), connections = Count("connections");
    const uint64_t total = Count("total"), skip = Count("skipFirst");
    const double rate = Number("rps");
    std::string length = Text("duration");
    const std::string limit = Text("max-duration");
    if (length.empty()) length = limit;
    if (connections > 0) Add("--channel-policy", absl::StrCat("pool:", connections));
    Add("--warmup", skip > 0 && rate > 0 ? absl::StrCat(static_cast<double>(skip) / rate) : "0");
    if (rate > 0) {
      Add("--rate", absl::StrCat(rate));
      if (concurrency > 0) Add("--max-outstanding", absl::StrCat(concurrency));
      if (length.empty() && total > skip) length = absl::StrCat(static_cast<double>(total - skip) / rate);
      return Add("--interval", length);
    }
    if (concurrency > 0) Add("--inflight", absl::StrCat(concurrency));
    const bool open = std::any_of(kOpen.begin(), kOpen.end(), [this](const std::string& each) { return Given(each); });
    if (total == 0 || open) return Add("--interval", length);
    Add("--total", absl::StrCat(total));
    if (skip > 0) Add("--skip-first", absl::StrCat(skip));
    Add("--interval", length.empty() ? kWithoutLimit : length);
  }

  void Data() {
    if (const auto found = json_.find("data"); found != json_.end()) {
      const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
      if (absl::StrContains(text, "{{")) flags_.notes.push_back("data: {{templates}} are sent as they are");
      Add("--data", text);
      json_.erase(found);
    }
    if (const std::string file = Text("data-file"); !file.empty()) Add("--data", "@" + file);
  }

  void Metadata() {
    const Json metadata = Take("metadata", &Json::is_object).value_or(Json::object());
    for (const auto& [key, value] : metadata.items()) {
      if (value.is_string()) flags_.arguments.push_back(absl::StrCat("--header=", key, ": ", value.get<std::string>()));
    }
  }

  // ghz uses TLS by default.
  void Tls() {
    if (Take("insecure", &Json::is_boolean).value_or(false).get<bool>()) return;
    if (!Given("--tls")) flags_.arguments.push_back("--tls");
    flags_.notes.push_back("insecure: is not true, so connections are made with --tls");
    Copy("cacert", "--tls-ca");
    Copy("cert", "--tls-cert");
    Copy("key", "--tls-key");
    Copy("cname", "--tls-server-name");
  }

  Json json_;
  const std::vector<std::string>& given_;
  GhzFlags flags_;
  std::vector<std::string> unused_;
  std::string error_;
};

}  // namespace

absl::StatusOr<GhzFlags> ReadGhzConfig(const std::string& path, const std::vector<std::string>& given) {
  const auto text = ReadFile(path, kMaxConfigBytes);
  if (!text.ok()) return text.status();
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' is not a JSON object (ghz's TOML is not read)"));
  }
  Reader reader(std::move(json), given);
  GhzFlags flags = reader.Read();
  if (!reader.error().empty()) return absl::InvalidArgumentError(absl::StrCat("'", path, "': ", reader.error()));
  return flags;
}

}  // namespace cqbench
