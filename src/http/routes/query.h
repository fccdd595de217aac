// Query parameters → fields of the request.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/http/routes/http_rule.h"

namespace cqbench::transcoding {

// The fields of a message by both names that a parameter may have (book_id and bookId), and of the messages in it.
// Made once for each type, so that a parameter costs a look-up and no memory.
struct NamedFields {
  struct Field {
    const google::protobuf::FieldDescriptor* descriptor;
    const NamedFields* inside;  // of a single message; nullptr: it has no parameters of its own
    bool has_text_form;
  };
  absl::flat_hash_map<absl::string_view, Field> by_name;
};

class NamedTypes {
 public:
  // Valid as long as this.
  const NamedFields& Of(const google::protobuf::Descriptor& type);

 private:
  absl::flat_hash_map<const google::protobuf::Descriptor*, std::unique_ptr<NamedFields>> types_;
};

// Calls `take` with key and value, decoded, of each parameter in turn; they are gone when it returns. INVALID_ARGUMENT:
// what it returns, or a '%' without two digits behind it.
absl::Status ForEachParameter(absl::string_view query,
                              absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)> take);

// INVALID_ARGUMENT that names the parameter.
absl::Status BadParameter(absl::string_view key, absl::string_view why);
absl::Status UnknownParameter(absl::string_view key, const google::protobuf::MethodDescriptor& method);

// Sets what `query` ("a=1&b.c=2", without its '?') says of the fields that `binding` leaves to it. A field of the path
// is passed over: the path is what counts. INVALID_ARGUMENT names the parameter: one that there is not, a value that is
// none of its type, a second value of a single field, a second member of a oneof.
absl::Status BindQuery(absl::string_view query, const Binding& binding, const NamedFields& fields,
                       google::protobuf::Message& request);

}  // namespace cqbench::transcoding
