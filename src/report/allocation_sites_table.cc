// Prints allocation sites.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cqbench/reporter.h"

namespace cqbench {
namespace {

constexpr size_t kShown = 10;

std::string Table(const AllocationSites& described, const std::string& by, std::vector<AllocationSite> sites) {
  const char* const unit = described.calls > 0 ? "/call" : "";
  std::string text = absl::StrFormat("By %s:\n%8s %12s %12s  Site <- called by\n", by, "Share",
                                     absl::StrCat("Allocs", unit), absl::StrCat("Bytes", unit));
  sites.resize(std::min(sites.size(), kShown));
  for (const AllocationSite& site : sites) {
    const double share = by == "bytes" ? site.bytes_share : site.allocations_share;
    absl::StrAppendFormat(&text, "%6.1f %% %12.2f %12.1f  %s%s%s\n", share * 100, described.AllocationsOf(site),
                          described.BytesOf(site), site.function, site.caller.empty() ? "" : " <- ", site.caller);
  }
  return text;
}

}  // namespace

std::string FormatAllocationSites(const std::string& who, const AllocationSites& described) {
  std::string text = absl::StrCat("\nAllocation sites of the ", who, ": ", described.allocations, " allocations of ",
                                  described.bytes, " bytes in ", described.calls, " calls, the stacks of ",
                                  described.samples, " (one of ", described.every, ") examined\n");
  if (described.sites.empty()) return absl::StrCat(text, "none\n");
  std::vector<AllocationSite> by_bytes = described.sites;
  std::stable_sort(by_bytes.begin(), by_bytes.end(),
                   [](const auto& a, const auto& b) { return a.bytes_share > b.bytes_share; });
  absl::StrAppend(&text, Table(described, "bytes", std::move(by_bytes)), Table(described, "count", described.sites));
  if (described.lost > 0) absl::StrAppend(&text, described.lost, " stacks found no room in the table of stacks\n");
  return text;
}

}  // namespace cqbench
