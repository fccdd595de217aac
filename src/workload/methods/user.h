// CreateUser of "High Performance gRPC (in Go)", FOSDEM 2025: a message of eight fields with the values of the talk's
// benchmark, and its "dumb echo". See method.h for what a method is.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "cqbench/proto/myservice.grpc.pb.h"
#include "src/workload/messages/wire.h"
#include "src/workload/methods/method.h"

namespace cqbench {

struct UserCreate {
  using Request = CreateUserRequest;
  using Response = CreateUserResponse;
  static constexpr char kWorkload[] = "user";
  static constexpr char kName[] = "create";
  static constexpr bool kHasPayload = false;
  CQBENCH_UNARY(MyService, CreateUser);

  static void Fill(Request& request, const MessageConfig& /*config*/) {
    request.set_id(kId);
    request.set_name(kUserName);
    request.set_age(kAge);
    request.set_paid_plan(kPaidPlan);
    request.set_createdat(kCreatedAt);
    request.set_status(kStatus);
    request.clear_subscriptions();
    for (const char* subscription : kSubscriptions) request.add_subscriptions(subscription);
    request.set_email(kEmail);
  }
  static absl::string_view Check(const Response& response, const MessageConfig& /*config*/) {
    if (response.id() != kId) return "the response's id is not the request's";
    if (response.name() != kUserName) return "the response's name is not the request's";
    if (response.age() != kAge) return "the response's age is not the request's";
    if (response.paid_plan() != kPaidPlan) return "the response's paid_plan is not the request's";
    if (response.createdat() != kCreatedAt) return "the response's createdAt is not the request's";
    if (response.status() != kStatus) return "the response's status is not the request's";
    if (!std::equal(response.subscriptions().begin(), response.subscriptions().end(), kSubscriptions.begin(),
                    kSubscriptions.end())) {
      return "the response's subscriptions are not the request's";
    }
    if (response.email() != kEmail) return "the response's email is not the request's";
    return {};
  }
  // Protobuf writes these messages in one way only, and another library's way need not be wrong.
  static absl::string_view CheckBytes(const grpc::ByteBuffer& response, const MessageConfig& config) {
    static const std::string expected = [] {
      Request request;
      Fill(request, {});
      return request.SerializeAsString();
    }();
    grpc::Slice slice;
    if (!response.TrySingleSlice(&slice).ok() && !response.DumpToSingleSlice(&slice).ok()) return kNotAResponse;
    if (slice.size() == expected.size() && std::memcmp(slice.begin(), expected.data(), expected.size()) == 0) return {};
    Response message;
    if (!message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) return kNotAResponse;
    return Check(message, config);
  }

  static grpc::Status Handle(const Request& request, Response* response) {
    response->set_id(request.id());
    response->set_name(request.name());
    response->set_age(request.age());
    response->set_paid_plan(request.paid_plan());
    response->set_createdat(request.createdat());
    response->set_status(request.status());
    *response->mutable_subscriptions() = request.subscriptions();
    response->set_email(request.email());
    return grpc::Status::OK;
  }
  // Both messages have the same fields, so the response is the request's own slices. Walking over the fields, without
  // taking them out, tells what is no message; only text that is no UTF-8 goes through.
  static grpc::Status HandleBytes(const grpc::ByteBuffer& request, grpc::ByteBuffer* response) {
    uint64_t id = 0;
    if (!wire::FindVarint(request, Request::kIdFieldNumber, &id)) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "the request is not a CreateUserRequest"};
    }
    *response = request;
    return grpc::Status::OK;
  }

 private:
  static constexpr char kNotAResponse[] = "the response is not a CreateUserResponse";
  static constexpr uint64_t kId = 1234;
  static constexpr char kUserName[] = "my-name";
  static constexpr uint64_t kAge = 42;
  static constexpr bool kPaidPlan = true;
  static constexpr uint64_t kCreatedAt = 567153;
  static constexpr char kStatus[] = "PREMIUM";
  static constexpr std::array<const char*, 3> kSubscriptions = {"foo", "bar", "baz"};
  static constexpr char kEmail[] = "name@gmail.com";
};

}  // namespace cqbench
