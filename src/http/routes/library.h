// The library's rules (proto/library.proto) as code by hand, a handler for each method: what the table that is made of
// descriptors costs is the difference between the two. Both take and give the same; JSON is converted by the same code.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/http/routes/transcoder.h"

namespace cqbench::transcoding {

class LibraryTranscoder final : public Transcoder {
 public:
  explicit LibraryTranscoder(const TranscodingOptions& options);

  absl::Status Bind(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const override;
  absl::Status Print(const Call& call, const google::protobuf::Message& message, std::string& json) const override;

 protected:
  Found FindMethod(absl::string_view http_method, absl::string_view path, Call& call) const override;
  std::vector<absl::string_view> MethodsOf(absl::string_view path) const override;

 private:
  enum Method { kGetBook, kListBooks, kStreamBooks, kCreateBook, kUpdateBook, kDeleteBook, kMethods };

  absl::Status BindGetBook(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const;
  absl::Status BindListBooks(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const;
  absl::Status BindCreateBook(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const;
  absl::Status BindUpdateBook(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const;
  absl::Status BindDeleteBook(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const;

  const TranscodingOptions options_;
  std::array<Rpc, kMethods> rpcs_;
};

}  // namespace cqbench::transcoding
