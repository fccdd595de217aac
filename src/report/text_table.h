// Text in columns.
#pragma once

#include <string>
#include <vector>

namespace cqbench {

using Row = std::vector<std::string>;

// Columns as wide as their widest cell, numbers to the right; a line below the first row, which has the names.
std::string AlignTable(const std::vector<Row>& rows);

}  // namespace cqbench
