#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/config/http_call.h"
#include "src/config/wire_settings.h"
#include "src/http/client/http_wire.h"

namespace cqbench {

HttpMessage::HttpMessage(const HttpCall& call, std::string_view authority, const std::vector<Metadata>& headers)
    : is_head_(call.method == "HEAD"), body_(call.body), expected_(call.expected) {
  fields_ = {
      {":method", call.method}, {":scheme", "http"}, {":authority", std::string(authority)}, {":path", call.target}};
  http1_ = absl::StrCat(call.method, " ", call.target, " HTTP/1.1\r\nHost: ", std::string(authority), "\r\n");
  const auto add = [&](const std::string& name, const std::string& value) {
    absl::StrAppend(&http1_, name, ": ", value, "\r\n");
    fields_.emplace_back(absl::AsciiStrToLower(name), value);
  };
  bool has_type = false;
  for (const Metadata& header : headers) {
    has_type = has_type || absl::EqualsIgnoreCase(header.key, "content-type");
    add(header.key, header.value);
  }
  if (!body_.empty()) {
    if (!has_type) add("content-type", "application/json");
    add("content-length", absl::StrCat(body_.size()));
  }
  absl::StrAppend(&http1_, "\r\n", body_);
}

}  // namespace cqbench
