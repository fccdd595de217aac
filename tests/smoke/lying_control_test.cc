// A control service with false figures: the point reports this, and no figure reaches the result.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cqbench/proto/control.grpc.pb.h"
#include "tests/in_process_server.h"
#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

using testing::HasSubstr;
namespace v1 = control::v1;

// Returns the figures that the test sets.
class LyingControl final : public v1::Control::Service {
 public:
  grpc::Status Describe(grpc::ServerContext* /*context*/, const v1::DescribeRequest* /*request*/,
                        v1::ServerDescription* answer) override {
    *answer = description;
    return grpc::Status::OK;
  }
  grpc::Status Sample(grpc::ServerContext* /*context*/, const v1::SampleRequest* /*request*/,
                      v1::Sample* answer) override {
    answer->set_taken_at_ns(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
    lie(*answer);
    return grpc::Status::OK;
  }
  v1::ServerDescription description;
  std::function<void(v1::Sample&)> lie = [](v1::Sample& /*sample*/) {};
};

class LyingControlTest : public testing::Test {
 protected:
  LyingControlTest() {
    control_.description.set_api("cq");
    control_.description.set_build_type("release");
  }

  // Runs the client with a real server's calls and this service's figures.
  ClientRun Run(const Flags& more = {}) const {
    return RunClient(Flags{"--host", SharedServer("cq").address(), "--control", server_.address(), "--format", "json"} +
                     ShortInterval() + more);
  }
  // Returns the notes of a point that has no figure of this server.
  static Json NotesWithoutFigures(const ClientRun& run) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json point = run.Point();
    for (const auto& [key, value] : point.items()) EXPECT_NE(key.rfind("server_", 0), 0u) << key << " " << value;
    EXPECT_GT(point.at("completed"), 0);
    return point.at("notes");
  }

  LyingControl control_;
  const InProcessServer server_{control_};
};

TEST_F(LyingControlTest, FiguresThatCannotBeAreRefusedWithOneNote) {
  int64_t messages = 1'000'000;
  control_.lie = [&messages](v1::Sample& sample) {
    sample.set_messages(static_cast<uint64_t>(messages -= 1000));
    sample.mutable_process()->set_user_ns(messages * 1'000'000'000'000);
  };
  std::vector<std::string> notes;
  for (const Json& note : NotesWithoutFigures(Run())) notes.push_back(note.at("text"));
  EXPECT_EQ(std::count_if(notes.begin(), notes.end(), [](auto& note) { return note.starts_with("server"); }), 1);
  EXPECT_THAT(notes, testing::Contains(testing::StartsWith("server: what its control service says cannot be (")));
}

// Each figure alone may be right.
TEST_F(LyingControlTest, ThreadsThatTogetherUseMoreThanTheCpusAreRefused) {
  int64_t used = 0;
  control_.lie = [&used](v1::Sample& sample) {
    used += 100'000'000;  // between two samples, which are 200 ms apart and more
    for (int i = 0; i < 100; ++i) {
      v1::ThreadSample& thread = *sample.add_threads();
      thread.set_id(i + 1);
      thread.set_cpu_ns(used);
    }
    for (int i = 0; i < 2; ++i) sample.add_cpus()->set_cpu(i);
  };
  EXPECT_THAT(NotesWithoutFigures(Run()).dump(), HasSubstr("cannot be (its threads used"));
}

TEST_F(LyingControlTest, TimesThatCannotBeAreRefused) {
  control_.lie = [](v1::Sample& sample) { sample.mutable_call_times()->mutable_handling()->add_value_ns(5); };
  EXPECT_THAT(NotesWithoutFigures(Run({"--breakdown"})).dump(),
              HasSubstr("cannot be (it has timed calls of 1 lengths and counted 0"));
}

TEST_F(LyingControlTest, ADescriptionThatCannotBeIsRefused) {
  control_.description.set_api("<script>\x1b[2J");
  const ClientRun run = Run();
  EXPECT_THAT(NotesWithoutFigures(run).dump(), HasSubstr("says of itself cannot be (its api is '?script? [2J')"));
  EXPECT_TRUE(run.Parsed().at("context").at("servers").empty());
}

TEST_F(LyingControlTest, ItsWordsAreClean) {
  control_.description.set_kernel("\x1b]0;x\x07<script>alert(1)</script>");
  control_.description.set_cpu_model(std::string(100'000, 'x'));
  control_.lie = [](v1::Sample& sample) {
    v1::ConnectionSample& connection = *sample.add_connections();
    connection.set_id(7);
    connection.set_taken_at_ns(sample.taken_at_ns());
    connection.set_congestion_control("\x1b[31mcubic");
  };
  const ClientRun run = Run();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out + run.err,
              testing::Not(testing::AnyOf(HasSubstr("\\u001b"), HasSubstr("\x1b["), HasSubstr("<"))));
  const Json result = run.Parsed();
  ASSERT_EQ(result.at("context").at("servers").size(), 1u);
  EXPECT_LE(result.at("context").at("servers").at(0).at("cpu_model").get<std::string>().size(), 1000u);
}

}  // namespace
}  // namespace cqbench::smoke
