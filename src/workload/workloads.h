// The list of workloads: the one line that a new one adds.
#pragma once

#include <string>
#include <vector>

#include "cqbench/run_config.h"
#include "src/workload/echo.h"
#include "src/workload/ping.h"

namespace cqbench {

// Calls `visit` with the workload of that kind (an empty struct whose type is what counts).
template <typename Visit>
auto WithWorkload(WorkloadKind kind, Visit&& visit) {
  switch (kind) {
    case WorkloadKind::kEcho:
      return visit(EchoWorkload{});
    case WorkloadKind::kPing:
      break;
  }
  return visit(PingWorkload{});
}

// Every workload, for servers, which serve them all: Apply<F> is F<PingWorkload, EchoWorkload, …>.
template <template <typename...> typename F>
using WithAllWorkloads = F<PingWorkload, EchoWorkload>;

template <typename... Workloads>
struct WorkloadServices {
  static std::vector<std::string> Names() { return {Workloads::Service::service_full_name()...}; }
};
// Full names of the services of all workloads.
inline std::vector<std::string> WorkloadServiceNames() {
  return WithAllWorkloads<WorkloadServices>::Names();
}

}  // namespace cqbench
