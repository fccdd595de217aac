// Ranks that were given a time to start at and know nothing else of each other.
#pragma once

#include <memory>

#include "cqbench/ranks.h"

namespace cqbench {

// One point, whose warm-up begins at `start_wall_ns` (since 1970) by every rank's own wall clock. Agree() fails when
// that has passed, or is too near, by the time the rank is connected. What ranks report counts from that time, so the
// bound of the offset is how wrong the kernel believes the wall clock to be.
std::unique_ptr<Ranks> MakeStartAtRanks(const RankId& id, Nanos start_wall_ns);

}  // namespace cqbench
