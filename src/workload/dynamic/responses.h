// Checks the responses of a method that is known by its descriptor only.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/workload/dynamic/descriptors.h"
#include "src/workload/methods/bytes_method.h"

namespace cqbench {

// Checks that each response is a message of `type` and, with `expected` (JSON), equal to that message field by field.
absl::StatusOr<std::shared_ptr<const BytesChecker>> MakeResponseChecker(std::shared_ptr<const Descriptors> descriptors,
                                                                        const google::protobuf::Descriptor* type,
                                                                        const std::optional<std::string>& expected);

}  // namespace cqbench
