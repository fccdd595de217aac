// TLS on the command lines of both programs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/cli/flags/flags.h"
#include "src/config/security.h"

namespace cqbench {

enum class TlsEnd { kClient, kServer };

class TlsFlags {
 public:
  // Adds the options to `app`; what they mean goes into `security`. Both must outlive this.
  TlsFlags(CLI::App& app, Security& security, TlsEnd end);
  // After parsing. Throws CLI errors. Opens no file.
  void Resolve();

 private:
  Security& security_;
  const TlsEnd end_;
  std::string ciphers_;
  CLI::Option *ca_, *certificate_, *key_;
  std::vector<CLI::Option*> needs_tls_;
};

// Call before gRPC is used: reads and checks the files, and limits versions and ciphers of the process.
// INVALID_ARGUMENT with one line that names the flag, UNAVAILABLE if the process cannot do what the flags ask for.
absl::Status BeginTls(Security& security);

}  // namespace cqbench
