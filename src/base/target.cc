#include "src/base/target.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cqbench {
namespace {

// A socket address holds 108 bytes, the terminating zero included.
constexpr size_t kMaxUnixPath = 107;

// Returns true for characters that a path may have in gRPC's addresses, which are URIs: gRPC decodes all others or
// gives them another meaning.
bool StandsForItself(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._~!$&'()*+,;=:@/", c);
}

// With a port behind it gRPC takes each of these for the scheme of a URI, not for a host.
bool IsScheme(absl::string_view host) {
  constexpr absl::string_view kSchemes[] = {"dns",  "google-c2p",    "ipv4",  "ipv6",
                                            "unix", "unix-abstract", "vsock", "xds"};
  return absl::c_any_of(kSchemes, [&](absl::string_view scheme) { return absl::EqualsIgnoreCase(host, scheme); });
}

absl::Status BadTarget(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' ", why, ": HOST, HOST:PORT, [V6]:PORT or unix:PATH are accepted"));
}

absl::StatusOr<Target> ParseUnix(absl::string_view text) {
  absl::string_view path = absl::StripPrefix(text, "unix:");
  if (absl::StartsWith(path, "///")) path.remove_prefix(2);
  if (absl::StartsWith(path, "//") || !absl::c_all_of(path, StandsForItself)) {
    return BadTarget(text, "has a socket path that gRPC does not take as it is");
  }
  if (path.empty() || path.size() > kMaxUnixPath) {
    return BadTarget(text, absl::StrCat("has no socket path of 1 to ", kMaxUnixPath, " bytes"));
  }
  Target target;
  target.unix_path = std::string(path);
  return target;
}

// Splits "[v6]:port", "v6" and "host:port"; the port is empty where there is none.
std::pair<absl::string_view, absl::string_view> SplitPort(absl::string_view text) {
  if (!text.empty() && text.front() == '[') {
    const size_t close = text.find(']');
    if (close == absl::string_view::npos) return {"", ""};
    absl::string_view rest = text.substr(close + 1);
    if (rest.empty()) return {text.substr(1, close - 1), ""};
    if (rest.front() != ':' || rest.size() == 1) return {"", ""};
    return {text.substr(1, close - 1), rest.substr(1)};
  }
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos || text.find(':', colon + 1) != absl::string_view::npos) return {text, ""};
  if (colon + 1 == text.size()) return {"", ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

std::string Target::ToString() const {
  if (is_unix()) return absl::StrCat("unix:", unix_path);
  if (absl::StrContains(host, ':')) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

absl::StatusOr<Target> ParseTarget(absl::string_view text, int default_port) {
  if (absl::StartsWith(text, "unix:")) return ParseUnix(text);
  const auto [host, port] = SplitPort(text);
  if (host.empty() || host.find_first_of(" \t\r\n/%,[]") != absl::string_view::npos)
    return BadTarget(text, "is not an address");
  if (IsScheme(host)) return BadTarget(text, "has the name of a scheme of gRPC's for a host");
  Target target{std::string(host), default_port, ""};
  if (!port.empty() && (!absl::SimpleAtoi(port, &target.port) || target.port < 0 || target.port > 65535)) {
    return BadTarget(text, "has a port that is not in 0 to 65535");
  }
  return target;
}

absl::StatusOr<std::vector<Target>> ParseTargets(absl::string_view text, int default_port) {
  std::vector<Target> targets;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    auto target = ParseTarget(item, default_port);
    if (!target.ok()) return target.status();
    targets.push_back(*std::move(target));
  }
  return targets;
}

}  // namespace cqbench
