#include "src/cli/server/limit_flags.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "src/config/messages.h"

namespace cqbench {
namespace {

constexpr uint64_t kMinMemory = uint64_t{64} << 20;  // of an idle server 20 to 30 MiB
constexpr uint64_t kMaxMemory = uint64_t{1} << 50;

// "2GiB", "512MiB"; "0": no limit.
absl::StatusOr<uint64_t> ParseMemory(absl::string_view text) {
  absl::string_view digits = text;
  uint64_t unit = 0;
  for (const auto& [name, bytes] :
       {std::pair<absl::string_view, uint64_t>{"MiB", uint64_t{1} << 20}, {"GiB", uint64_t{1} << 30}}) {
    if (absl::ConsumeSuffix(&digits, name)) unit = bytes;
  }
  uint32_t number = 0;
  if (text == "0") return 0;
  if (unit > 0 && absl::SimpleAtoi(digits, &number) && number <= kMaxMemory / unit && number * unit >= kMinMemory) {
    return number * unit;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a whole number of MiB or GiB from 64MiB on, or 0 for no limit"));
}

absl::StatusOr<uint32_t> ParseMessage(absl::string_view text) {
  auto bytes = ParseBytes(text, kMaxPayloadBytes);
  if (bytes.ok() && *bytes == 0) return absl::InvalidArgumentError("'0' is no message: accepted is 1 byte to 64MiB");
  return bytes;
}

}  // namespace

CLI::Option* AddLimits(CLI::App& app, ServerLimits& limits) {
  limits.memory_bytes = DefaultMemoryLimit();
  AddParsed(app, "--memory-limit", limits.memory_bytes, ParseMemory,
            "Resident memory above which all connections end; 0: no limit.")
      ->type_name("MiB|GiB")
      ->default_str(absl::StrCat(limits.memory_bytes >> 20, "MiB"));
  AddParsed(app, "--max-message-bytes", limits.message_bytes, ParseMessage,
            "Maximum payload of a request and of a response.")
      ->type_name("BYTES")
      ->default_str("64MiB");
  app.add_flag("--accept-compressed", limits.accepts_compressed,
               "Accept compressed requests; each may grow to 1,030 times its size.");
  return AddNumber(app, "--max-threads", limits.threads, 1, 100'000,
                   "Maximum of threads of --api sync, one per call; further calls get RESOURCE_EXHAUSTED.");
}

}  // namespace cqbench
