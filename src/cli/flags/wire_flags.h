// Compression, keepalive, streams and generated metadata on the command lines of both programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cqbench/run_config.h"
#include "cqbench/server.h"
#include "src/cli/flags/flags.h"

namespace cqbench {

// A time, or "none".
CLI::Option* AddDeadline(CLI::App& app, std::optional<Nanos>& into);

class ClientWireFlags {
 public:
  // Adds the options to `app`; what they mean goes into `run`, and what should be said of it into `notes`. All must
  // outlive this.
  ClientWireFlags(CLI::App& app, RunConfig& run, std::vector<std::string>& notes);
  // After parsing, when the API is known. Throws CLI errors.
  void Resolve();

 private:
  RunConfig& run_;
  std::vector<std::string>& notes_;
  Keepalive keepalive_;
  CLI::Option *compression_, *metadata_, *keepalive_option_;
};

class ServerWireFlags {
 public:
  ServerWireFlags(CLI::App& app, ServerConfig& config);
  void Resolve();

 private:
  ServerConfig& config_;
  Keepalive keepalive_;
  int max_streams_ = 0;
  CLI::Option *compression_, *keepalive_option_, *max_streams_option_;
};

}  // namespace cqbench
