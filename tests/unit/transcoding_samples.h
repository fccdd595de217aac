// What the tests of src/transcoding share: a service that is made from rules while a test runs, with a request that has
// a field of every kind.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "src/http/routes/transcoder.h"

namespace cqbench::transcoding {

// Methods test.S.M0, M1, ... from test.Kinds to test.Kinds, each with an option (google.api.http) of the text given.
class TestService {
 public:
  explicit TestService(const std::vector<std::string>& rules);

  // What DescriptorTranscoder::Make says.
  absl::StatusOr<std::unique_ptr<DescriptorTranscoder>> Make(const TranscodingOptions& options = {});
  std::unique_ptr<google::protobuf::Message> NewKinds() { return New("test.Kinds"); }
  // A message of one of the types in the .cc: test.Every has every kind of field that there is.
  std::unique_ptr<google::protobuf::Message> New(const std::string& type);
  const google::protobuf::DescriptorPool& pool() const { return pool_; }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
};

// A message's fields from protobuf's text format.
std::unique_ptr<google::protobuf::Message> FromText(const google::protobuf::Message& like, const std::string& text);

// "GET /v1/a?b=c BODY" as a request; the views are of the text.
HttpRequest RequestOf(absl::string_view line);

// What came of a request.
struct Outcome {
  std::string method;   // empty: no method took it
  absl::Status status;  // what Bind said
  std::unique_ptr<google::protobuf::Message> message;
  std::string refusal;  // "404", "405 GET, HEAD, POST"
};
Outcome Transcode(const Transcoder& transcoder, absl::string_view line);

}  // namespace cqbench::transcoding
