// A method's google.api.http rule, resolved: every field that it names is found, and what it may not say is refused.
#pragma once

#include <google/api/http.pb.h>
#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "src/http/routes/field_path.h"
#include "src/http/routes/path_template.h"

namespace cqbench::transcoding {

// One rule of a method, or one of its additional bindings.
struct Binding {
  const google::protobuf::MethodDescriptor* method = nullptr;
  size_t rpc = 0;           // whatever who builds a table wants to find again
  std::string http_method;  // "*": any
  std::string text;         // the path as the rule has it
  PathTemplate path;
  std::vector<FieldPath> variables;  // of each of path.variables, in their order; single fields of primitive types

  enum class Body { kNone, kAll, kField };
  Body body = Body::kNone;
  const google::protobuf::FieldDescriptor* body_field = nullptr;      // kField
  const google::protobuf::FieldDescriptor* response_field = nullptr;  // nullptr: the whole response
};

// The rule itself and its additional bindings, in their order, without those that are wrong. `refused` gets a line for
// each of these: the method, the path and the reason.
std::vector<Binding> ResolveRule(const google::protobuf::MethodDescriptor& method, const google::api::HttpRule& rule,
                                 std::vector<std::string>& refused);

// "the http rule of METHOD (GET /PATH): WHY"
std::string RefusalOf(const Binding& binding, absl::string_view why);

}  // namespace cqbench::transcoding
