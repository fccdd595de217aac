// gRPC's status codes as HTTP's, and errors as JSON. No gRPC headers: a code is its number, as on the wire.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/http/json/json.h"

namespace cqbench::transcoding {

// As google/rpc/code.proto has it. A code that gRPC does not have: 500.
int HttpStatusOf(int grpc_code);

// The code of a status with which an HTTP front end refuses a request by itself, before any method has it.
int CodeOfRefusal(int http_status);

// Appends {"code":5,"message":"...","details":[]}: google.rpc.Status, of which an error in a REST answer consists.
void AppendErrorJson(int grpc_code, absl::string_view message, std::string& text);
// `status_proto`: a serialized google.rpc.Status (the call's trailer grpc-status-details-bin), from which the details
// are taken; empty: there is none. A detail whose type `json` does not know is {"@type":URL,"value":BASE64}, for its
// reader may.
void AppendErrorJson(int grpc_code, absl::string_view message, absl::string_view status_proto, const Json& json,
                     std::string& text);

}  // namespace cqbench::transcoding
