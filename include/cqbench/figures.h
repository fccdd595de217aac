// Named numbers: what a point measured in addition to throughput and latencies.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace cqbench {

// Keeps the order in which figures were set. A name has the end, the quantity and the unit: "client_cpu_per_rpc_ns".
// Shares are fractions of 1. A figure that could not be measured is absent.
class Figures {
 public:
  using Entry = std::pair<std::string, double>;

  void Set(absl::string_view name, double value) {
    for (Entry& entry : entries_) {
      if (entry.first == name) {
        entry.second = value;
        return;
      }
    }
    entries_.emplace_back(std::string(name), value);
  }
  // A median over connections, with each one's value, so that a median over several processes' can be taken.
  void SetMedian(absl::string_view name, double median, std::vector<double> of_connections) {
    Set(name, median);
    of_connections_[std::string(name)] = std::move(of_connections);
  }
  // Empty for what is no median over connections.
  std::vector<double> OfConnections(const std::string& name) const {
    const auto found = of_connections_.find(name);
    return found == of_connections_.end() ? std::vector<double>() : found->second;
  }
  std::optional<double> Get(absl::string_view name) const {
    for (const Entry& entry : entries_) {
      if (entry.first == name) return entry.second;
    }
    return std::nullopt;
  }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::vector<double>> of_connections_;
};

}  // namespace cqbench
