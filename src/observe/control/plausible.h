// Checks what a server reports about itself: the server may be anybody's, and its values go into results.
//
// A value that no machine reaches is refused, not a value that is merely odd: limits are far from what was ever
// measured. Errors are INVALID_ARGUMENT with one clean line that names the field and the value ("its messages went back
// from 7 to 5").
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "cqbench/proto/control.pb.h"
#include "cqbench/result.h"
#include "src/observe/control/control_client.h"

namespace cqbench {

// Cleans the texts of a description that a server sent, and checks its words and numbers.
absl::Status CleanAndValidate(ServerDescription& description);

// Each value has a count and each count a value, and the sum of the counts fits into a number.
absl::Status ValidateHistogram(const control::v1::Histogram& histogram);

// Samples of one server, the first taken before the second; a sample that was refused when it came stays refused.
// `servers`: how many servers' totals will be added up.
absl::Status ValidateSamples(const ServerMoment& begin, const ServerMoment& end, size_t servers);

// An error from above as the point's note has it, without "server: ".
std::string NoteOfRefusal(const absl::Status& why);

}  // namespace cqbench
