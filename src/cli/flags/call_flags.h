// A user's own method on the command lines of both programs.
#pragma once

#include <string>
#include <vector>

#include "cqbench/run_config.h"
#include "src/cli/flags/flags.h"
#include "src/workload/dynamic/call.h"

namespace cqbench {

// Flags of client and server for a user's own method: its name and the source of its description.
class CallFlags {
 public:
  // Adds the options to `app`; what they mean goes into `spec`. Both must outlive this.
  CallFlags(CLI::App& app, CallSpec& spec, const std::string& call_help);
  // An option that needs --call.
  CLI::Option* Needs(CLI::Option* option);
  bool given() const { return call_->count() > 0; }
  bool described() const { return proto_->count() + protoset_->count() > 0; }
  CLI::Option* call() const { return call_; }
  // After parsing. Throws CLI errors.
  void Resolve();

 private:
  std::vector<CLI::Option*> needs_call_;
  CLI::Option *call_, *proto_, *import_paths_, *protoset_;
};

// The client's further ones.
class ClientCallFlags {
 public:
  ClientCallFlags(CLI::App& app, CallSpec& spec, RunConfig& run);
  bool given() const { return common_.given(); }
  CLI::Option* call() const { return common_.call(); }
  void Resolve();

 private:
  CallSpec& spec_;
  CallFlags common_;
  std::string expect_;
  CLI::Option *expect_option_, *seed_;
};

}  // namespace cqbench
