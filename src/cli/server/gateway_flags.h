// The server's HTTP front end on its command line.
#pragma once

#include <optional>
#include <string>

#include "src/cli/flags/flags.h"
#include "src/http/gateway/gateway.h"

namespace cqbench {

class GatewayFlags {
 public:
  // Adds the options to `app`, which must outlive this.
  explicit GatewayFlags(CLI::App& app);
  bool given() const { return http_->count() > 0; }
  // After parsing. Nothing: no front end is wanted. Throws CLI errors.
  std::optional<GatewayConfig> Resolve(MessageStrategy messages) const;

 private:
  GatewayConfig Given() const;

  GatewayConfig config_;
  std::string http_text_, target_text_, policy_text_ = "shared";
  CLI::Option *http_, *threads_, *transcoder_, *backend_, *target_, *channels_, *policy_, *deadline_;
};

}  // namespace cqbench
