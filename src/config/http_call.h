// A call as a request of plain HTTP.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/method_info.h"
#include "src/config/messages.h"

namespace cqbench {

struct HttpCall {
  std::string method;  // "GET"
  std::string target;  // "/v1/shelves/1/books/2?view=FULL"
  std::string body;
  // The body of a right response, JSON without white space; empty: any response of 200 to 299 is a right one.
  std::string expected;
};
inline constexpr size_t kMaxHttpFields = 100;
// "METHOD TARGET"; INVALID_ARGUMENT for what no server would take.
absl::StatusOr<HttpCall> ParseHttpCall(absl::string_view text);
// The HTTP request of a method of this project; absent if it has none.
std::optional<HttpCall> HttpCallOf(const MethodInfo& method, const MessageConfig& config);

}  // namespace cqbench
