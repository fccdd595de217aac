// CreateUser: the talk's message, its echo as messages and as bytes, and wrong responses.
#include "src/workload/methods/user.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

CreateUserRequest Request() {
  CreateUserRequest request;
  UserCreate::Fill(request, {});
  return request;
}

// These bytes follow from the field numbers, types and values of the talk's benchmark.
TEST(User, RequestIsTheTalksOnTheWire) {
  EXPECT_EQ(Request().SerializeAsString(),
            "\x08\xd2\x09"
            "\x12\x07my-name"
            "\x18\x2a"
            "\x20\x01"
            "\x28\xf1\xce\x22"
            "\x32\x07PREMIUM"
            "\x3a\x03"
            "foo\x3a\x03"
            "bar\x3a\x03"
            "baz"
            "\x42\x0ename@gmail.com");
  EXPECT_EQ(PathOf<UserCreate>(), "/MyService/CreateUser");
}

TEST(User, FillingTwiceIsFillingOnce) {
  CreateUserRequest request = Request();
  UserCreate::Fill(request, {});
  EXPECT_EQ(request.SerializeAsString(), Request().SerializeAsString());
}

TEST(User, TheEchoIsRightWithMessagesAndWithBytes) {
  CreateUserResponse response;
  grpc::ByteBuffer bytes;
  for (int use = 0; use < 2; ++use) {  // the second time the response is a reused message
    ASSERT_TRUE(UserCreate::Handle(Request(), &response).ok());
    ASSERT_TRUE(UserCreate::HandleBytes(BufferOf(Request().SerializeAsString()), &bytes).ok());
    EXPECT_EQ(response.SerializeAsString(), Request().SerializeAsString());
    EXPECT_EQ(BytesOf(bytes), Request().SerializeAsString());
    EXPECT_EQ(UserCreate::Check(response, {}), "");
    EXPECT_EQ(UserCreate::CheckBytes(bytes, {}), "");
  }
}

TEST(User, EveryWrongFieldIsAnErrorOfItsOwn) {
  struct Wrong {
    const char* field;
    std::function<void(CreateUserResponse&)> spoil;
  };
  const std::vector<Wrong> all = {
      {"id", [](auto& r) { r.set_id(1235); }},
      {"name", [](auto& r) { r.clear_name(); }},
      {"age", [](auto& r) { r.set_age(0); }},
      {"paid_plan", [](auto& r) { r.set_paid_plan(false); }},
      {"createdAt", [](auto& r) { r.set_createdat(567154); }},
      {"status", [](auto& r) { r.set_status("PREMIU"); }},
      {"subscriptions", [](auto& r) { r.set_subscriptions(2, "bar"); }},
      {"subscriptions", [](auto& r) { r.add_subscriptions("baz"); }},
      {"subscriptions", [](auto& r) { r.mutable_subscriptions()->RemoveLast(); }},
      {"email", [](auto& r) { r.set_email("name@gmail.con"); }},
  };
  for (const Wrong& wrong : all) {
    CreateUserResponse response;
    ASSERT_TRUE(UserCreate::Handle(Request(), &response).ok());
    wrong.spoil(response);
    const std::string expected = std::string("the response's ") + wrong.field;
    EXPECT_EQ(UserCreate::Check(response, {}).substr(0, expected.size()), expected);
    EXPECT_EQ(UserCreate::CheckBytes(BufferOf(response.SerializeAsString()), {}), UserCreate::Check(response, {}));
  }
}

TEST(User, BytesInAnotherOrderAreRightToo) {
  const std::string all = Request().SerializeAsString();
  EXPECT_EQ(UserCreate::CheckBytes(BufferOf(all.substr(3) + all.substr(0, 3)), {}), "");
}

TEST(User, EveryTruncationIsRefusedOrAnsweredWithItself) {
  const std::string all = Request().SerializeAsString();
  for (size_t size = 0; size < all.size(); ++size) {
    const std::string part = all.substr(0, size);
    grpc::ByteBuffer answer;
    const grpc::Status status = UserCreate::HandleBytes(BufferOf(part), &answer);
    CreateUserRequest parsed;
    EXPECT_EQ(status.ok(), parsed.ParseFromString(part)) << size;
    if (status.ok()) {
      EXPECT_EQ(BytesOf(answer), part);
    } else {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    }
    EXPECT_FALSE(UserCreate::CheckBytes(BufferOf(part), {}).empty()) << size;
  }
}

}  // namespace
}  // namespace cqbench
