// The client's flags for what is sampled besides the calls, and where.
#pragma once

#include <string>

#include "cqbench/run_config.h"
#include "src/cli/flags/flags.h"

namespace cqbench {

class EvidenceFlags {
 public:
  // Adds the options to `app`; what they mean goes into `run` and `show`. All must outlive this.
  EvidenceFlags(CLI::App& app, RunConfig& run, bool& show);
  // After parsing, once the API is known. Throws CLI errors.
  void Resolve();

 private:
  RunConfig& run_;
  bool none_ = false;
  std::string control_;
  CLI::Option* control_option_;
};

}  // namespace cqbench
