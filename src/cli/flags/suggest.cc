#include "src/cli/flags/suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cqbench {
namespace {

// Flags of ghz, h2load, wrk, hey and fortio.
struct Counterpart {
  absl::string_view theirs, ours, with;  // `with`: the value that makes it the same
};
constexpr Counterpart kCounterparts[] = {
    {"-c", "--inflight", ""},
    {"--concurrency", "--inflight", ""},
    {"-m", "--inflight", ""},
    {"--max-concurrent-streams", "--inflight", ""},
    {"--connections", "--channel-policy", " pool:N"},
    {"-n", "--total", ""},
    {"--requests", "--total", ""},
    {"-d", "--interval", ""},
    {"-D", "--interval", ""},
    {"-z", "--interval", ""},
    {"--duration", "--interval", ""},
    {"--warm-up-time", "--warmup", ""},
    {"-q", "--rate", ""},
    {"--qps", "--rate", ""},
    {"-r", "--rate", ""},
    {"--rps", "--rate", ""},
    {"-t", "--threads", ""},
    {"--timeout", "--deadline", ""},
    {"--call", "--method", ""},
    {"-o", "--output", ""},
    {"-O", "--format", ""},
    {"-p", "--port", ""},
    {"--cacert", "--tls-ca", ""},
    {"--cert", "--tls-cert", ""},
    {"--key", "--tls-key", ""},
    {"--cname", "--tls-server-name", ""},
    {"--servername", "--tls-server-name", ""},
};

bool Has(const CLI::App& app, absl::string_view flag) {
  return app.get_option_no_throw(std::string(flag)) != nullptr;
}

// How many letters are to be inserted, left out, changed or swapped with their neighbours (optimal string alignment);
// anything above `most` where that is more than `most`.
size_t Distance(absl::string_view a, absl::string_view b, size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  // Row i, the one above it, and the one above that: of the first i letters of `a` to each beginning of `b`.
  std::vector<size_t> row(b.size() + 1), above(b.size() + 1), second(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  size_t least = 0;
  for (size_t i = 1; i <= a.size(); ++i) {
    second.swap(above);
    above.swap(row);
    row[0] = i;
    const size_t least_above = std::exchange(least, i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], second[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    if (least > most && least_above >= most) return most + 1;  // what follows comes from these two rows
  }
  return row[b.size()];
}

// The flag of `app` that says what `typed` ("-c", "--inflght", "--qps=5") says to other load generators, or else the
// one that is spelt most like it; empty when none is near.
std::string SuggestFlag(const CLI::App& app, absl::string_view typed) {
  const absl::string_view flag = typed.substr(0, std::min<size_t>(typed.find('='), 64));
  for (const Counterpart& c : kCounterparts) {
    if (c.theirs == flag && Has(app, c.ours)) return absl::StrCat(c.ours, c.with);
  }
  if (flag.size() < 4) return "";  // so short a word is near to any
  std::string best;
  size_t least = flag.size() / 4 + 1;  // letters of the dashes count, too
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const size_t distance = Distance(flag, name, least);
    if (distance > least || (distance == least && !best.empty())) continue;
    least = distance;
    best = name;
  }
  return best;
}

}  // namespace

std::string ExplainExtras(const std::vector<std::string>& extras, const CLI::App& app) {
  const auto flag = std::find_if(extras.begin(), extras.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-' && !std::isdigit(static_cast<unsigned char>(word[1]));
  });
  if (flag == extras.end()) return absl::StrCat("'", extras.front(), "' belongs to no flag");
  const std::string meant = SuggestFlag(app, *flag);
  return absl::StrCat(*flag, ": there is no such flag",
                      meant.empty() ? "" : absl::StrCat("; did you mean ", meant, "?"));
}

}  // namespace cqbench
