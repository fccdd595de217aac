// Servers that respond late, or not at all, or do not know the control service.
#include "src/observe/control/control_client.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "cqbench/proto/control.grpc.pb.h"
#include "cqbench/proto/echo.grpc.pb.h"
#include "cqbench/server.h"
#include "tests/in_process_server.h"

namespace cqbench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class SlowControl final : public control::v1::Control::Service {
 public:
  grpc::Status Describe(grpc::ServerContext* context, const control::v1::DescribeRequest* /*request*/,
                        control::v1::ServerDescription* answer) override {
    ++asked;
    while (slow && !context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    answer->set_instance("7");
    answer->set_api("cq");
    answer->set_build_type("release");
    answer->set_messages("arena");
    return grpc::Status::OK;
  }
  grpc::Status Sample(grpc::ServerContext* /*context*/, const control::v1::SampleRequest* /*request*/,
                      control::v1::Sample* /*answer*/) override {
    return grpc::Status::OK;
  }
  std::atomic<bool> slow{false};
  std::atomic<int> asked{0};
};

class ControlClientsTest : public testing::Test {
 protected:
  void Start(grpc::Service* service) {
    server_.emplace(service ? *service : other_);
    config_.targets = {*ParseTarget("127.0.0.1", server_->port())};
  }

  SlowControl control_;
  v1::EchoService::Service other_;  // the service's threads respond with UNIMPLEMENTED
  RunConfig config_;
  std::optional<InProcessServer> server_;
};

TEST_F(ControlClientsTest, ASlowAnswerCostsOnePointOnly) {
  Start(&control_);
  control_.slow = true;
  ControlClients clients(config_, grpc::InsecureChannelCredentials());
  EXPECT_FALSE(clients.Connect());
  EXPECT_THAT(clients.absence(), HasSubstr("did not answer within 2s"));
  EXPECT_THAT(clients.notes(), IsEmpty()) << "it is the point's";
  EXPECT_THAT(clients.servers(), IsEmpty());
  control_.slow = false;
  ASSERT_TRUE(clients.Connect());
  EXPECT_EQ(clients.absence(), "");
  ASSERT_EQ(clients.servers().size(), 1u);
  EXPECT_EQ(clients.servers()[0].messages(), "arena");
  clients.Disconnect();
  control_.slow = true;
  EXPECT_FALSE(clients.Connect());
  EXPECT_EQ(clients.servers().size(), 1u) << "the points before have its figures";
}

TEST_F(ControlClientsTest, AServerWithoutTheServiceIsAskedOnce) {
  Start(nullptr);
  ControlClients clients(config_, grpc::InsecureChannelCredentials());
  EXPECT_FALSE(clients.Connect());
  EXPECT_THAT(clients.notes(), testing::ElementsAre(HasSubstr("has no control service")));
  EXPECT_EQ(clients.absence(), "");
  server_->Shutdown();
  const Nanos begin = NowNs();
  EXPECT_FALSE(clients.Connect());
  EXPECT_LT(NowNs() - begin, kNanosPerSecond) << "nobody was asked";
  EXPECT_EQ(clients.notes().size(), 1u);
}

// A point in between has failed.
TEST_F(ControlClientsTest, ConnectingAgainBeginsAnew) {
  Start(&control_);
  ControlClients clients(config_, grpc::InsecureChannelCredentials());
  ASSERT_TRUE(clients.Connect());
  ASSERT_TRUE(clients.Connect());
  EXPECT_EQ(clients.SampleAll(std::nullopt).get().size(), 1u);
}

TEST_F(ControlClientsTest, AServerThatHasGoneIsAskedAgain) {
  Start(&control_);
  ControlClients clients(config_, grpc::InsecureChannelCredentials());
  ASSERT_TRUE(clients.Connect());
  clients.Disconnect();
  server_->Shutdown();
  EXPECT_FALSE(clients.Connect());
  EXPECT_NE(clients.absence(), "");
  EXPECT_THAT(clients.notes(), IsEmpty());
}

// Responds with bytes: no message, or more than the maximum.
using RawControl = control::v1::Control::WithRawCallbackMethod_Describe<
    control::v1::Control::WithRawCallbackMethod_Sample<control::v1::Control::Service>>;

class GarbledControl final : public RawControl {
 public:
  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
                                     grpc::ByteBuffer* answer) override {
    return Answer(context, described_, answer);
  }
  grpc::ServerUnaryReactor* Sample(grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
                                   grpc::ByteBuffer* answer) override {
    return Answer(context, sampled_, answer);
  }
  // While the server runs, too.
  void DescribeAs(std::string bytes) { Set(described_, std::move(bytes)); }
  void SampleAs(std::string bytes) { Set(sampled_, std::move(bytes)); }

 private:
  void Set(std::string& response, std::string bytes) {
    const std::lock_guard lock(mutex_);
    response = std::move(bytes);
  }
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const std::string& bytes,
                                   grpc::ByteBuffer* answer) {
    {
      const std::lock_guard lock(mutex_);
      const grpc::Slice slice(bytes);
      *answer = grpc::ByteBuffer(&slice, 1);
    }
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  std::mutex mutex_;
  std::string described_, sampled_;
};

std::string AnHonestDescription() {
  control::v1::ServerDescription description;
  description.set_api("cq");
  description.set_build_type("release");
  return description.SerializeAsString();
}

TEST_F(ControlClientsTest, ADescriptionThatIsNoMessageIsRefused) {
  GarbledControl garbled;
  garbled.DescribeAs(std::string(50, '\xff'));
  Start(&garbled);
  ControlClients clients(config_, grpc::InsecureChannelCredentials());
  EXPECT_FALSE(clients.Connect());
  EXPECT_THAT(clients.absence(), HasSubstr("says of itself cannot be (its response is no message"));
  EXPECT_THAT(clients.notes(), IsEmpty()) << "the service is there";
  garbled.DescribeAs(AnHonestDescription());
  EXPECT_TRUE(clients.Connect());
  clients.Disconnect();
  server_->Shutdown();
}

TEST_F(ControlClientsTest, ASampleThatIsNoMessageIsRefused) {
  GarbledControl garbled;
  garbled.DescribeAs(AnHonestDescription());
  Start(&garbled);
  ControlClients clients(config_, grpc::InsecureChannelCredentials());
  for (const auto& [bytes, why] : {std::pair(std::string(50, '\xff'), "no message of the control service"),
                                   std::pair(std::string(17 << 20, '\0'), "larger than max")}) {
    ASSERT_TRUE(clients.Connect()) << clients.absence();
    garbled.SampleAs(bytes);
    const auto moments = clients.SampleAll(std::nullopt).get();
    ASSERT_EQ(moments.size(), 1u) << "it has answered";
    EXPECT_THAT(moments[0].refused, HasSubstr(why));
  }
  clients.Disconnect();
  server_->Shutdown();
}

// The server reports the address of its HTTP front end and counts the front end's own responses. It does not count
// calls that the front end passes on to it as a client's connection.
TEST(ControlClientsOfAnHttpFrontEnd, AskAtTheGrpcAddress) {
  ServerConfig server_config;
  server_config.listen = {*ParseTarget("127.0.0.1", 0)};
  auto server = StartServer(server_config);
  ASSERT_TRUE(server.ok()) << server.status();
  const Target address = (*server)->listening().front();
  (*server)->AddHttpFrontEnd(*ParseTarget("127.0.0.1:8080", 0), [] { return 7; });
  RunConfig config;
  config.api = ClientApi::kHttp1;
  config.targets = {*ParseTarget("127.0.0.1:8080", 0)};
  EXPECT_THAT(ControlClients::Addresses(config), IsEmpty());
  config.control = {address};
  ControlClients clients(config, grpc::InsecureChannelCredentials());
  ASSERT_TRUE(clients.Connect()) << clients.absence();
  EXPECT_THAT(clients.servers().at(0).http_front_ends(), testing::ElementsAre("127.0.0.1:8080"));
  const auto passed_on = grpc::CreateChannel(address.ToString(), grpc::InsecureChannelCredentials());
  ASSERT_TRUE(passed_on->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(30)));
  const auto moments = clients.SampleAll(std::nullopt).get();
  ASSERT_EQ(moments.size(), 1u);
  EXPECT_EQ(moments[0].sample.messages(), 7u);
  EXPECT_THAT(moments[0].sample.connections(), IsEmpty());
  clients.Disconnect();
  (*server)->Shutdown();
}

}  // namespace
}  // namespace cqbench
