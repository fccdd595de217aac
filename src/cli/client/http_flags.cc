#include "src/cli/client/http_flags.h"

#include <fstream>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cqbench {
namespace {

// "library get, list": those that are requests of HTTP, too.
std::string MethodsWithHttp() {
  std::vector<std::string> of_workloads;
  std::string workload;
  for (const MethodInfo& method : AllMethodInfos()) {
    if (!HttpCallOf(method, {})) continue;
    if (method.workload != workload) of_workloads.push_back(absl::StrCat("--workload ", method.workload, " --method"));
    absl::StrAppend(&of_workloads.back(), method.workload == workload ? ", " : " ", method.name);
    workload = method.workload;
  }
  return absl::StrJoin(of_workloads, "; ");
}

absl::StatusOr<std::string> ReadBody(const std::string& text) {
  std::string body = text;
  if (absl::StartsWith(text, "@")) {
    std::ifstream file(text.substr(1), std::ios::binary);
    if (!file) return absl::InvalidArgumentError(absl::StrCat("cannot read '", text.substr(1), "'"));
    body.assign(size_t{kMaxPayloadBytes} + 1, '\0');
    file.read(body.data(), static_cast<std::streamsize>(body.size()));
    body.resize(static_cast<size_t>(file.gcount()));
  }
  if (body.size() > kMaxPayloadBytes) return absl::InvalidArgumentError("is more than 64 MiB");
  return body;
}

}  // namespace

HttpFlags::HttpFlags(CLI::App& app, RunConfig& run) : run_(run) {
  request_option_ = AddParsed(app, "--http-request", call_, ParseHttpCall,
                              "HTTP request for --api http1 or http2: 'GET /v1/books/1'.")
                        ->type_name("'METHOD TARGET'");
  body_option_ = AddParsed(app, "--http-body", body_, ReadBody,
                           "Body of --http-request, or @FILE; application/json unless -H sets the type.")
                     ->type_name("TEXT|@FILE");
  expect_option_ = AddParsed(app, "--http-expect", expected_, ReadBody,
                             "Expected response body, or @FILE; blanks outside of JSON strings do not count.")
                       ->type_name("TEXT|@FILE");
}

void HttpFlags::Resolve(bool policy_given) {
  for (const CLI::Option* option : {body_option_, expect_option_}) {
    if (option->count() > 0 && !given()) BadCombination(option->get_name(), "needs --http-request");
  }
  if (!IsHttp(run_.api)) {
    if (given()) {
      BadCombination("--http-request", absl::StrCat("needs --api http1 or http2, not ", ToString(run_.api)));
    }
    return;
  }
  // HTTP/1.1 has one call at a time on a connection.
  if (run_.api == ClientApi::kHttp1 && !policy_given) run_.policy.kind = ChannelPolicy::Kind::kLocalPool;
  run_.http = std::make_shared<const HttpCall>(given() ? Request() : OfMethod());
}

HttpCall HttpFlags::Request() {
  if (expect_option_->count() > 0) {
    if (expected_.empty()) BadCombination("--http-expect", "is empty: leave it out to accept any body");
    if (call_.method == "HEAD") BadCombination("--http-expect", "not together with HEAD, whose responses have no body");
  }
  call_.body = body_;
  call_.expected = expected_;
  run_.method = MethodInfo{};
  run_.method.id = MethodInfo::kNotOurs;
  run_.method.workload = "http";
  run_.method.name = call_.method;
  run_.method.path = call_.target;
  return call_;
}

HttpCall HttpFlags::OfMethod() const {
  auto call = HttpCallOf(run_.method, run_.message);
  if (call) return *std::move(call);
  BadCombination("--api", absl::StrCat(ToString(run_.api), " has no request for ", run_.method.workload, " ",
                                       run_.method.name, ": accepted are --http-request and ", MethodsWithHttp()));
}

}  // namespace cqbench
