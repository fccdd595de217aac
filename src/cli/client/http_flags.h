// Calls over plain HTTP on the client's command line.
#pragma once

#include <string>

#include "cqbench/run_config.h"
#include "src/cli/flags/flags.h"

namespace cqbench {

class HttpFlags {
 public:
  // Adds the options to `app`; what they mean goes into `run`. Both must outlive this.
  HttpFlags(CLI::App& app, RunConfig& run);
  // After parsing: whether there is a request that is none of our methods'.
  bool given() const { return request_option_->count() > 0; }
  // After parsing, once the API, the method and the policy are known. Throws CLI errors.
  void Resolve(bool policy_given);

 private:
  HttpCall Request();
  HttpCall OfMethod() const;

  RunConfig& run_;
  HttpCall call_;
  std::string body_, expected_;
  CLI::Option *request_option_, *body_option_, *expect_option_;
};

}  // namespace cqbench
