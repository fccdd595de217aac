// The files that are made from the catalogue of figures.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cqbench {

// scripts/cqbench/formats/figures.json: the catalogue for Python, an object per figure.
std::string FiguresJson();
// docs/reference/figures.md: the catalogue for people.
std::string FiguresPage();
// scripts/cqbench/formats/result.schema.json: the part written by hand (src/report/result.schema.in.json) with the
// figures in it. Invalid where that part has no place for them.
absl::StatusOr<std::string> ResultSchema(absl::string_view by_hand);

}  // namespace cqbench
