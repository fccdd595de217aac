// The client's flags for the method and its messages.
#pragma once

#include <string>

#include "cqbench/run_config.h"
#include "src/cli/flags/flags.h"
#include "src/workload/dynamic/call.h"

namespace cqbench {

class MethodFlags {
 public:
  // Adds the options to `app`; what they mean goes into `run`. Both must outlive this.
  MethodFlags(CLI::App& app, RunConfig& run);
  // After parsing. Throws CLI errors.
  void Resolve();
  // The same for a method that is none of ours.
  void ResolveForCall(CallSpec& call);
  // The same for a method over HTTP, and for a request that is none of ours.
  void ResolveForHttp();
  void ResolveForRequest();

 private:
  void Refuse(const std::string& why) const;
  void ResolveMethod();
  void ResolveStub();
  void ResolveChunks();
  void ResolvePayload();

  RunConfig& run_;
  std::string workload_;
  std::string method_;
  bool streaming_ = false;
  uint32_t chunk_size_ = 0;
  int chunk_count_ = 0;
  CLI::Option *workload_option_, *streaming_option_, *messages_, *method_option_, *stub_, *serializer_,
      *stream_messages_;
  CLI::Option *request_bytes_, *response_bytes_, *payload_, *payload_seed_, *chunk_bytes_, *chunks_, *content_;
};

}  // namespace cqbench
