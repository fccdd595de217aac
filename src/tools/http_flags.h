// Calls over plain HTTP on the client's command line.
#pragma once

#include <string>

#include "cqbench/run_config.h"
#include "src/tools/flags.h"

namespace cqbench {

class HttpFlags {
 public:
  // Adds the options to `app`; what they mean goes into `run`. Both must outlive this.
  HttpFlags(CLI::App& app, RunConfig& run);
  // After parsing, once the API, the policy, the loads and the headers are known. Throws CLI errors.
  void Resolve(bool policy_given);

 private:
  void CheckHeaders() const;
  void ResolvePolicy(bool policy_given);

  RunConfig& run_;
  HttpCall call_;
  std::string body_;
  CLI::Option *request_option_, *body_option_;
};

}  // namespace cqbench
