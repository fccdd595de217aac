// Invalid messages sent to every kind of server: the server responds with a status and lives on.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "cqbench/proto/echo.grpc.pb.h"
#include "cqbench/proto/myservice.pb.h"
#include "tests/smoke/calls.h"
#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

class HostileBytesTest : public testing::TestWithParam<Flags> {
 protected:
  static bool Has(const std::string& flag) {
    return std::find(GetParam().begin(), GetParam().end(), flag) != GetParam().end();
  }
  bool ServesOn() {
    v1::EchoResponse response;
    return v1::EchoService::NewStub(channel_)->Echo(PatientContext().get(), v1::EchoRequest(), &response).ok();
  }

  Server server_{GetParam()};
  const std::shared_ptr<grpc::Channel> channel_ = ChannelTo(server_.address());
};

std::vector<std::string> HostileBytes() {
  CreateUserRequest user;
  user.set_id(1);
  user.set_name(std::string(1000, 'x'));
  const std::string all = user.SerializeAsString();
  return {
      all.substr(0, all.size() - 1),               // cut off in a string
      all.substr(0, 1),                            // cut off after a tag
      "\x0f\xff\xff",                              // an unknown wire type
      std::string("\x02\x00", 2),                  // field number 0
      "\x12\xff\xff\xff\xff\x07",                  // a string of 2 GiB
      "\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f",  // a string longer than the maximum
      "\x08" + std::string(20, '\xff'),            // a number without an end
      std::string(10'000, '\x0b'),                 // groups in groups in groups
      std::string(3, '\xff'),
  };
}

// The library refuses bytes that are not the method's message, with a code that depends on the API (the callback API's
// is UNIMPLEMENTED in 1.51). The generic server parses by itself. In a stream, the library's APIs report a message that
// they cannot parse as the end of the messages.
TEST_P(HostileBytesTest, BytesThatAreNoRequestAreRefused) {
  const bool generic = Has("generic");
  const std::string echo = "/cqbench.v1.EchoService/";
  for (const std::string& bytes : HostileBytes()) {
    SCOPED_TRACE(testing::PrintToString(bytes.substr(0, 20)));
    const std::vector<std::string> whole = {"/MyService/CreateUser", "/MyService/Get", "/flex.FlexService/NormalRPC",
                                            echo + "Echo", echo + "Download"};
    const std::vector<std::string> streams = {"/MyService/Put", echo + "Upload", echo + "EchoStream"};
    std::vector<std::string> paths = whole;
    paths.insert(paths.end(), streams.begin(), streams.end());
    for (const std::string& path : paths) {
      SCOPED_TRACE(path);
      const bool reads_a_stream = std::find(streams.begin(), streams.end(), path) != streams.end();
      const BytesCall call = CallWithBytes(channel_, path, bytes);
      const grpc::StatusCode code = call.status.error_code();
      if (generic) {
        EXPECT_EQ(code, grpc::StatusCode::INVALID_ARGUMENT) << call.status.error_message();
      } else if (!reads_a_stream) {
        EXPECT_THAT(code, testing::AnyOf(grpc::StatusCode::INTERNAL, grpc::StatusCode::UNIMPLEMENTED));
      }
      EXPECT_NE(code, grpc::StatusCode::DEADLINE_EXCEEDED);
      EXPECT_NE(code, grpc::StatusCode::UNAVAILABLE);
      EXPECT_TRUE(reads_a_stream || call.answers.empty());
    }
  }
  EXPECT_TRUE(ServesOn());
}

// Text that is not UTF-8 makes a message invalid, but only a parser of the message can detect this. The library would
// print a line for each.
TEST_P(HostileBytesTest, TextThatIsNoneIsSeenByWhoeverParses) {
  const BytesCall call = CallWithBytes(channel_, "/MyService/CreateUser", "\x12\x02\xc0\x80");
  EXPECT_EQ(call.status.ok(), Has("bytes")) << call.status.error_message();
  server_.Stop(SIGTERM);
  EXPECT_EQ(server_.process().err(), "");
}

INSTANTIATE_TEST_SUITE_P(All, HostileBytesTest,
                         testing::Values(Flags{"--api", "cq"}, Flags{"--api", "callback"}, Flags{"--api", "sync"},
                                         Flags{"--api", "generic", "--messages", "bytes"},
                                         Flags{"--api", "generic", "--messages", "fresh"},
                                         Flags{"--api", "generic", "--serializer", "buffer-reusing"}),
                         [](const testing::TestParamInfo<Flags>& tested) {
                           std::string name = tested.param[1];
                           if (tested.param.size() > 2) name += "_" + tested.param[3];
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace cqbench::smoke
