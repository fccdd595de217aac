#include "src/report/text_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

// In terminals a character of UTF-8 is one column wide, whatever its bytes.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string AlignTable(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < widths.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : " | ", std::string(widths[i] - Width(rows[r][i]), ' '), rows[r][i]);
    }
    absl::StrAppend(&text, "\n");
    if (r > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i) absl::StrAppend(&text, i == 0 ? "" : "-+-", std::string(widths[i], '-'));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace cqbench
