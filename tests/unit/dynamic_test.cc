// Descriptions of a user's own service, JSON to bytes and back, and ghz's files: no network.

#include <gmock/gmock.h>
#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cqbench/run_config.h"
#include "src/cli/client/ghz_config.h"
#include "src/workload/dynamic/call.h"
#include "src/workload/dynamic/descriptors.h"
#include "src/workload/dynamic/json.h"
#include "src/workload/dynamic/responses.h"
#include "src/workload/methods/bytes_method.h"
#include "tests/temporary_file.h"

namespace cqbench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kProto[] = R"(syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
service Shop {
  rpc Buy(Order) returns (Receipt);
  rpc BuyMany(stream Order) returns (Receipt);
  rpc Watch(Order) returns (stream Receipt);
  rpc Talk(stream Order) returns (stream Receipt);
}
message Order { string item = 1; int32 count = 2; google.protobuf.Timestamp at = 3; Order next = 4; }
message Receipt { string text = 1; }
)";

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = TemporaryPath(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

CallSpec Buy(const std::string& data) {
  CallSpec spec;
  spec.method = "shop.Shop/Buy";
  spec.source.proto = Write("shop.proto", kProto);
  spec.data = data;
  return spec;
}

std::string ErrorOf(const CallSpec& spec) {
  RunConfig run;
  const auto facts = ResolveCall(spec, run);
  return facts.ok() ? "" : std::string(facts.status().message());
}

TEST(MethodName, AsPeopleTypeIt) {
  for (const char* text : {"a.b.S/M", "/a.b.S/M", "a.b.S.M"}) {
    const auto name = ParseMethodName(text);
    ASSERT_TRUE(name.ok()) << text;
    EXPECT_EQ(name->service, "a.b.S");
    EXPECT_EQ(name->method, "M");
  }
  for (const char* text : {"", "/", "S", "S/", "/M", "a/b/c"}) EXPECT_FALSE(ParseMethodName(text).ok()) << text;
}

TEST(Call, IsMadeOfAProtoFile) {
  CallSpec spec = Buy(R"([{"item": "tea"}, {"item": "cup", "count": 2, "at": "2024-01-02T03:04:05Z"}])");
  RunConfig run;
  const auto facts = ResolveCall(spec, run);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->messages, 2);
  EXPECT_EQ(run.method.path, "/shop.Shop/Buy");
  EXPECT_EQ(run.method.workload, "call");
  EXPECT_EQ(run.method.name, "shop.Shop.Buy");
  EXPECT_EQ(run.method.shape, Shape::kUnary);
  grpc::Slice slice;
  ASSERT_TRUE(run.call->requests[0].TrySingleSlice(&slice).ok());
  EXPECT_EQ(std::string(slice.begin(), slice.end()), "\x0a\x03tea");

  // The hash is that of the data, whatever its notation.
  spec.data = "{\"item\":\"tea\"}\n{\"count\":2,\"item\":\"cup\",\"at\":\"2024-01-02T03:04:05.000Z\"}\n";
  EXPECT_EQ(ResolveCall(spec, run)->hash, facts->hash);
  spec.data = R"({"item": "teacup"})";
  EXPECT_NE(ResolveCall(spec, run)->hash, facts->hash);
}

TEST(Call, HasTheShapeOfTheMethod) {
  const std::pair<const char*, Shape> kShapes[] = {{"shop.Shop/BuyMany", Shape::kClientStreaming},
                                                   {"shop.Shop/Watch", Shape::kServerStreaming},
                                                   {"shop.Shop/Talk", Shape::kBidi}};
  for (const auto& [name, shape] : kShapes) {
    CallSpec spec = Buy("{} {} {}");
    spec.method = name;
    RunConfig run;
    ASSERT_TRUE(ResolveCall(spec, run).ok()) << name;
    EXPECT_EQ(run.method.shape, shape);
    EXPECT_EQ(run.message.stream_messages, 3) << "of the client, unless said otherwise";
  }
}

TEST(Call, WhatIsNotThereListsWhatIs) {
  CallSpec spec = Buy("{}");
  spec.method = "shop.Shop/Sell";
  EXPECT_EQ(ErrorOf(spec), "--call: no method Sell in shop.Shop; it has: Buy, BuyMany, Watch, Talk");
  spec.method = "shop.Stall/Buy";
  EXPECT_EQ(ErrorOf(spec), "--call: no service shop.Stall; there are: shop.Shop");
}

TEST(Call, ErrorsInJsonNameTheField) {
  EXPECT_THAT(ErrorOf(Buy(R"({"itme": "tea"})")),
              AllOf(HasSubstr("--data: "), HasSubstr("shop.Order"), HasSubstr("itme")));
  EXPECT_THAT(ErrorOf(Buy(R"({"count": "many"})")), AllOf(HasSubstr("--data: "), HasSubstr("many")));
  EXPECT_THAT(ErrorOf(Buy(R"([{}, {"next": {"itme": 1}}])")), AllOf(HasSubstr("message 2"), HasSubstr("itme")));
}

// Hostile data gives one line with the error, and never a crash.
TEST(Call, HostileData) {
  const std::string deep = [] {
    std::string text = "{}";
    for (int i = 0; i < 10'000; ++i) text = "{\"next\":" + text + "}";
    return text;
  }();
  for (const std::string& data :
       {std::string(""), std::string("{"), std::string("[{}"), std::string("{]}"), std::string("nope"),
        std::string("\"\\"), std::string("[1]"), std::string("\xff\0{", 3), std::string(100'000, '['),
        std::string(100'000, '{'), deep, std::string("[]")}) {
    const std::string why = ErrorOf(Buy(data));
    EXPECT_THAT(why, HasSubstr("--data: ")) << data.substr(0, 40);
    EXPECT_THAT(why, Not(HasSubstr("\n")));
    EXPECT_LT(why.size(), 600u);
  }
  EXPECT_THAT(ErrorOf(Buy("@/nowhere.json")), AllOf(HasSubstr("--data: "), HasSubstr("/nowhere.json")));
  EXPECT_THAT(ErrorOf(Buy("@/")), HasSubstr("--data: cannot read '/'"));
}

TEST(Call, HostileDescriptions) {
  CallSpec spec = Buy("{}");
  spec.source.proto = Write("bad.proto", "syntax = \"proto3\";\nmessage M { nonsense }\n");
  EXPECT_THAT(ErrorOf(spec), HasSubstr("--proto: bad.proto:2: "));
  spec.source.proto = Write("lacks.proto", "syntax = \"proto3\"; import \"nowhere.proto\";");
  EXPECT_THAT(ErrorOf(spec), AllOf(HasSubstr("--proto: "), HasSubstr("nowhere.proto")));
  spec.source.proto = TemporaryPath("not-there.proto");
  EXPECT_THAT(ErrorOf(spec), AllOf(HasSubstr("--proto: cannot read"), HasSubstr("not-there.proto")));
  spec.source = {"", {}, Write("bad.protoset", "no descriptors")};
  EXPECT_THAT(ErrorOf(spec), HasSubstr("--protoset: "));

  google::protobuf::FileDescriptorProto file;
  file.set_name("a.proto");
  file.add_message_type()->set_name("M");
  file.mutable_message_type(0)->add_field()->set_name("f");
  file.mutable_message_type(0)->mutable_field(0)->set_type_name(".not.There");
  EXPECT_TRUE(absl::IsInvalidArgument(Descriptors::FromFiles({file}).status()));
  file.Clear();
  file.set_name("a.proto");
  file.add_dependency("a.proto");
  EXPECT_TRUE(absl::IsInvalidArgument(Descriptors::FromFiles({file}).status()));
}

TEST(Answers, AreParsedOrCompared) {
  const auto described = Descriptors::FromProto(Write("shop.proto", kProto), {});
  ASSERT_TRUE(described.ok());
  const auto* type = (*(*described)->Find({"shop.Shop", "Buy"}))->input_type();
  const auto bytes = [](const std::string& text) {
    const grpc::Slice slice(text);
    return grpc::ByteBuffer(&slice, 1);
  };
  const auto parses = *MakeResponseChecker(*described, type, std::nullopt);
  EXPECT_EQ(parses->Check(bytes("\x0a\x03tea")), "");
  EXPECT_EQ(parses->Check(bytes("")), "");
  EXPECT_EQ(parses->Check(grpc::ByteBuffer()), "");
  EXPECT_THAT(std::string(parses->Check(bytes("\x0a\x09tea"))), HasSubstr("shop.Order"));

  const auto compares = *MakeResponseChecker(*described, type, R"({"item": "tea", "count": 1})");
  EXPECT_EQ(compares->Check(bytes("\x0a\x03tea\x10\x01")), "");
  EXPECT_EQ(compares->Check(bytes("\x10\x01\x0a\x03tea")), "") << "fields may come in any order";
  EXPECT_THAT(std::string(compares->Check(bytes("\x0a\x03tea\x10\x02"))), HasSubstr("count"));
  EXPECT_FALSE(MakeResponseChecker(*described, type, "{\"no\": 1}").ok());
}

TEST(StandIn, IsMadeOfItsAnswers) {
  CallSpec spec = Buy(R"({"text": "ok"})");
  const auto stand_in = MakeStandIn(spec);
  ASSERT_TRUE(stand_in.ok()) << stand_in.status();
  EXPECT_EQ(stand_in->path, "/shop.Shop/Buy");
  EXPECT_THAT(stand_in->responses, ElementsAre("\x0a\x02ok"));
  spec.data = "{} {}";
  EXPECT_THAT(std::string(MakeStandIn(spec).status().message()), HasSubstr("--response: several"));
  spec.method = "shop.Shop/Watch";
  EXPECT_EQ(MakeStandIn(spec)->responses.size(), 2u);
}

TEST(GhzConfig, FieldsBecomeFlags) {
  const std::string path = Write("ghz.json", R"({"call": "a.S/M", "proto": "a.proto", "import-paths": ["x", "y"],
      "total": 101000, "skipFirst": 1000, "concurrency": 50, "connections": 20, "data": {"n": 1}, "timeout": "2s",
      "max-duration": "300s", "host": "0.0.0.0:1", "insecure": true, "cpus": 2, "metadata": {"k": "v"}})");
  const auto flags = ReadGhzConfig(path, {});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->arguments,
              testing::UnorderedElementsAre("--call=a.S/M", "--proto=a.proto", "--import-path=x", "--import-path=y",
                                            "--total=101000", "--skip-first=1000", "--inflight=50",
                                            "--channel-policy=pool:20", "--data={\"n\":1}", "--deadline=2s",
                                            "--interval=300s", "--host=0.0.0.0:1", "--warmup=0", "--header=k: v"));
  EXPECT_THAT(flags->notes, ElementsAre(HasSubstr("cpus")));
  // Typed flags override the file, including other entries of the file with the same meaning.
  const auto ruled = ReadGhzConfig(path, {"--inflight-list=1,2", "--port", "5", "--protoset=x"});
  for (const char* gone : {"--inflight=50", "--host=0.0.0.0:1", "--proto=a.proto", "--import-path=x"}) {
    EXPECT_THAT(ruled->arguments, Not(Contains(gone)));
  }
  EXPECT_THAT(ruled->arguments, Contains("--total=101000"));
}

TEST(GhzConfig, WithARateItIsAnOpenLoop) {
  const auto flags = ReadGhzConfig(
      Write("rate.json", R"({"call": "a.S/M", "rps": 100, "total": 1000, "concurrency": 5, "insecure": true})"), {});
  EXPECT_THAT(flags->arguments, testing::UnorderedElementsAre("--call=a.S/M", "--rate=100", "--max-outstanding=5",
                                                              "--interval=10", "--warmup=0"));
}

TEST(GhzConfig, WhatGoesOverTheWire) {
  const auto flags = ReadGhzConfig(Write("wire.json", R"({"call": "a.S/M", "timeout": "0s", "keepalive": "10s",
      "enable-compression": true, "insecure": true})"),
                                   {});
  EXPECT_THAT(flags->arguments, testing::UnorderedElementsAre("--call=a.S/M", "--warmup=0", "--deadline=none",
                                                              "--keepalive=10s", "--compression=call:gzip"));
}

TEST(GhzConfig, TlsUnlessItSaysInsecure) {
  const std::string path = Write("tls.json", R"({"call": "a.S/M", "cacert": "ca.pem", "cname": "x", "skipTLS": true})");
  const auto flags = ReadGhzConfig(path, {});
  EXPECT_THAT(flags->arguments, testing::UnorderedElementsAre("--call=a.S/M", "--warmup=0", "--tls", "--tls-ca=ca.pem",
                                                              "--tls-server-name=x"));
  EXPECT_THAT(flags->notes, ElementsAre(HasSubstr("--tls"), HasSubstr("skipTLS")));
  EXPECT_THAT(ReadGhzConfig(path, {"--tls", "--tls-ca=mine"})->arguments,
              testing::UnorderedElementsAre("--call=a.S/M", "--warmup=0", "--tls-server-name=x"));
}

TEST(GhzConfig, NamesOfFieldsAreCleanAndShort) {
  const std::string odd = "two\\nlines\\u001b[2J";
  const auto flags = ReadGhzConfig(Write("odd.json", R"({"call": "a.S/M", "insecure": true, ")" + odd + R"(": 1, ")" +
                                                         std::string(1000, 'x') + R"(": 2})"),
                                   {});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->notes, ElementsAre(HasSubstr("two lines [2J, xxx")));
  EXPECT_LT(flags->notes[0].size(), 200u);
}

TEST(GhzConfig, BadFiles) {
  EXPECT_FALSE(ReadGhzConfig("/nowhere", {}).ok());
  EXPECT_FALSE(ReadGhzConfig(Write("toml.json", "call = 'x'"), {}).ok());
  EXPECT_THAT(std::string(ReadGhzConfig(Write("type.json", R"({"total": "all"})"), {}).status().message()),
              HasSubstr("'total'"));
}

}  // namespace
}  // namespace cqbench
