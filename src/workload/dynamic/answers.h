// What is asked of the answers of a method that is known by its description only.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/workload/dynamic/descriptors.h"
#include "src/workload/methods/bytes_method.h"

namespace cqbench {

// That each is a message of the type; with `expected` (JSON of one message) also that it is that one, field by field.
absl::StatusOr<std::shared_ptr<const BytesChecker>> MakeAnswerChecker(std::shared_ptr<const Descriptors> descriptors,
                                                                      const google::protobuf::Descriptor* type,
                                                                      const std::optional<std::string>& expected);

}  // namespace cqbench
