// HTTP and JSON ↔ a gRPC method and its messages. No I/O, no gRPC: a front end brings what came and sends what is made.
//
// A request goes through Find (which method?), then Bind (its message, which the caller makes from the method's
// prototype, on an arena or wherever it likes), then the caller calls the method; a response through Print, an error
// through ErrorOf. All are const and thread-safe; nothing of a request is kept.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/http/routes/query.h"
#include "src/http/routes/route_table.h"

namespace cqbench::transcoding {

inline constexpr char kJsonType[] = "application/json";

struct TranscodingOptions {
  // Path and query together. A front end refuses more than that earlier, with 414; and longer bodies with 413.
  size_t max_target_bytes = 16 << 10;
  size_t max_body_bytes = 4 << 20;  // as gRPC's own limit of a message
};

// An HTTP request's parts as they came, still encoded. The views must live as long as the Call that Find made of them.
struct HttpRequest {
  absl::string_view method;
  absl::string_view path;   // from its first '/' to before the '?'
  absl::string_view query;  // without the '?'
  absl::string_view body;
  absl::string_view content_type = {};      // empty: absent
  absl::string_view content_encoding = {};  // empty: absent
};

struct Rpc {
  const google::protobuf::MethodDescriptor* method = nullptr;
  std::string path;  // "/package.Service/Method"
  // Prototypes: request->New(arena).
  const google::protobuf::Message* request = nullptr;
  const google::protobuf::Message* response = nullptr;
};

// The method that a request is for, and the parts of its path that go into the message.
struct Call {
  const Rpc* rpc = nullptr;
  const Binding* binding = nullptr;  // nullptr: its method's handler needs none
  Captures captures;
};

struct HttpError {
  int http_status = 500;
  // A header that the status asks for: Allow of a 405, Accept or Accept-Encoding of a 415. Empty: none.
  absl::string_view header;
  std::string header_value;
  std::string json;
};

class Transcoder {
 public:
  virtual ~Transcoder() = default;

  // Finds the method that serves the request, and checks that Bind reads such a body. A HEAD without a rule of its own
  // is served as the GET of its path (RFC 9110, 9.3.2); who sends the response leaves the body out.
  Found Find(const HttpRequest& request, Call& call) const;

  // Fills a message that is empty. INVALID_ARGUMENT says what of the request is wrong.
  virtual absl::Status Bind(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const = 0;

  // Appends a response as JSON, or one of a stream's. INTERNAL: it cannot be written as JSON, and what was appended is
  // no whole.
  virtual absl::Status Print(const Call& call, const google::protobuf::Message& message, std::string& json) const = 0;

  // "GET, HEAD, POST", in alphabetical order; empty: the path is unknown.
  std::string AllowedMethods(absl::string_view path) const;

  // A line for each rule (or additional binding) that is not served because it is wrong or has the paths of an earlier
  // one: the method, the path and the reason.
  virtual std::vector<std::string> refused() const { return {}; }

  // For a request for which Find does not say kYes: 404, 405 or 415.
  HttpError ErrorOf(Found found, const HttpRequest& request) const;
  // For what Bind or Print returned, or a call's status: `status_proto` as AppendErrorJson has it.
  HttpError ErrorOf(int grpc_code, absl::string_view message, absl::string_view status_proto = {}) const;
  HttpError ErrorOf(const absl::Status& status) const;

 protected:
  virtual Found FindMethod(absl::string_view http_method, absl::string_view path, Call& call) const = 0;
  // The methods that rules give a path.
  virtual std::vector<absl::string_view> MethodsOf(absl::string_view path) const = 0;
};

// By the services' google.api.http rules, which are read once, when it is made.
class DescriptorTranscoder final : public Transcoder {
 public:
  // `services`: full names. Methods without a rule are left out, and so are rules that are wrong: see refused(). `pool`
  // and `factory` (of the pool's messages) must outlive it. NOT_FOUND: a service.
  static absl::StatusOr<std::unique_ptr<DescriptorTranscoder>> Make(const google::protobuf::DescriptorPool& pool,
                                                                    google::protobuf::MessageFactory& factory,
                                                                    const std::vector<std::string>& services,
                                                                    const TranscodingOptions& options);

  absl::Status Bind(const Call& call, const HttpRequest& request, google::protobuf::Message& message) const override;
  absl::Status Print(const Call& call, const google::protobuf::Message& message, std::string& json) const override;
  std::vector<std::string> refused() const override { return refused_; }

 protected:
  Found FindMethod(absl::string_view http_method, absl::string_view path, Call& call) const override;
  std::vector<absl::string_view> MethodsOf(absl::string_view path) const override { return table_.MethodsOf(path); }

 private:
  struct Method {
    Rpc rpc;
    const NamedFields* fields;
  };

  explicit DescriptorTranscoder(const TranscodingOptions& options) : options_(options) {}
  void Add(const google::protobuf::MethodDescriptor& method, google::protobuf::MessageFactory& factory);

  const TranscodingOptions options_;
  NamedTypes types_;
  std::vector<Method> methods_;
  RouteTable table_;
  std::vector<std::string> refused_;
};

// The limits that hold for whatever a request is for. INVALID_ARGUMENT.
absl::Status CheckLimits(const HttpRequest& request, const TranscodingOptions& options);

// The fields that a rule has variables for: their captures, decoded, into the message. INVALID_ARGUMENT names the
// field.
absl::Status BindCaptures(const Binding& binding, const Captures& captures, google::protobuf::Message& message);

}  // namespace cqbench::transcoding
