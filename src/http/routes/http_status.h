// gRPC's status codes as HTTP's, and errors as JSON. No gRPC headers: a code is its number, as on the wire.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// The mapping of google/rpc/code.proto. A code that gRPC does not have: 500.
int HttpStatusOf(int grpc_code);

// The code of a status with which an HTTP front end refuses a request by itself, before any method has it.
int CodeOfRefusal(int http_status);

// Appends {"code":5,"message":"...","details":[]}: google.rpc.Status, of which an error in a REST response consists.
// `status_proto`: a serialized google.rpc.Status (the call's trailer grpc-status-details-bin), from which the details
// are taken; empty: there is none. A detail of a type that is not linked is {"@type":URL,"value":BASE64}, because the
// client may know the type.
void AppendErrorJson(int grpc_code, absl::string_view message, absl::string_view status_proto, std::string& text);

}  // namespace cqbench::transcoding
