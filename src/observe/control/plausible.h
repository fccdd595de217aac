// Whether what a server says of itself can be: it may be anybody's, and what it says goes into results.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "cqbench/proto/control.pb.h"
#include "cqbench/result.h"
#include "src/observe/control/control_client.h"

namespace cqbench {

// Each returns why it cannot be, for people ("its messages went back"); empty: it can. Text in it is clean. What no
// machine does is refused, not what is merely odd: limits are far from what was ever measured.

// Cleans the texts of a description that a server sent, and checks its words and numbers. INVALID_ARGUMENT says in one
// clean line what is wrong.
absl::Status CleanAndValidate(ServerDescription& description);

// As it came, before it is decoded: values without a count, counts without a value, sums of counts that do not fit into
// a number.
std::string WhyImpossible(const control::v1::Histogram& histogram);

// Samples of one server, the first taken before the second; what was refused when one of them came stays refused.
// `servers`: of how many the totals will be added up.
std::string WhyImpossible(const ServerMoment& begin, const ServerMoment& end, size_t servers);

// A reason from above as the point's note has it, without "server: ".
std::string NoteOfRefusal(const std::string& why);

}  // namespace cqbench
