#include "src/cli/client/service_config.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "src/base/files.h"

namespace cqbench {

absl::StatusOr<std::string> ReadServiceConfig(const std::string& text) {
  auto json = TextOrFile(text, /*max_bytes=*/1 << 20);
  if (!json.ok()) return json.status();
  if (!nlohmann::json::parse(*json, nullptr, /*allow_exceptions=*/false).is_object()) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a JSON object (nor @FILE with one)"));
  }
  return json;
}

}  // namespace cqbench
