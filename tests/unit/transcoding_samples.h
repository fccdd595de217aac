// Shared by the tests of src/transcoding: a service that a test makes from rules at run time, with a request that has a
// field of every kind.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "src/http/routes/transcoder.h"

namespace cqbench::transcoding {

// Methods test.S.M0, M1, ... from test.Kinds to test.Kinds, each with the given text as its option google.api.http.
class TestService {
 public:
  explicit TestService(const std::vector<std::string>& rules);

  // Returns the result of DescriptorTranscoder::Make.
  absl::StatusOr<std::unique_ptr<DescriptorTranscoder>> Make(const TranscodingOptions& options = {});
  std::unique_ptr<google::protobuf::Message> NewKinds() { return New("test.Kinds"); }
  // Makes a message of one of the types in the .cc: test.Every has a field of every kind.
  std::unique_ptr<google::protobuf::Message> New(const std::string& type);
  const google::protobuf::DescriptorPool& pool() const { return pool_; }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
};

// Parses a message's fields from protobuf's text format.
std::unique_ptr<google::protobuf::Message> FromText(const google::protobuf::Message& like, const std::string& text);

// Parses "GET /v1/a?b=c BODY" into a request; the views are of the text.
HttpRequest RequestOf(absl::string_view line);

// The outcome of a request.
struct Outcome {
  std::string method;   // empty: no method matches
  absl::Status status;  // Bind's result
  std::unique_ptr<google::protobuf::Message> message;
  std::string refusal;  // "404", "405 GET, HEAD, POST"
};
Outcome Transcode(const Transcoder& transcoder, absl::string_view line);

}  // namespace cqbench::transcoding
