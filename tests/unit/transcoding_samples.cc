#include "tests/unit/transcoding_samples.h"

#include <google/api/annotations.pb.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;

constexpr char kMessages[] = R"(
  syntax = "proto3";
  package test;
  import "google/api/annotations.proto";
  import "google/protobuf/duration.proto";
  import "google/protobuf/field_mask.proto";
  import "google/protobuf/struct.proto";
  import "google/protobuf/timestamp.proto";
  import "google/protobuf/wrappers.proto";
  enum Color { NONE = 0; RED = 1; DARK_BLUE = 7; }
  message Inner {
    string text = 1;
    int32 number = 2;
    Inner inner = 3;
    repeated int32 numbers = 4;
    google.protobuf.Timestamp time = 5;
    Color color = 6;
  }
  message Kinds {
    string s = 1;
    string name = 2;
    bytes b = 3;
    bool flag = 4;
    int32 i32 = 5;
    int64 i64 = 6;
    uint32 u32 = 7;
    uint64 u64 = 8;
    float f = 9;
    double d = 10;
    Color color = 11;
    sint32 si32 = 12;
    fixed64 fx64 = 13;
    repeated string strings = 14;
    repeated int32 numbers = 15;
    repeated Color colors = 16;
    map<string, int32> counts = 17;
    Inner inner = 18;
    repeated Inner inners = 19;
    oneof choice { string left = 20; int32 right = 21; Inner middle = 22; }
    optional int32 maybe = 23;
    google.protobuf.Timestamp time = 24;
    google.protobuf.Duration duration = 25;
    google.protobuf.FieldMask mask = 26;
    google.protobuf.Int64Value wrapped = 27;
    google.protobuf.StringValue wrapped_text = 28;
    google.protobuf.BoolValue wrapped_flag = 29;
    google.protobuf.DoubleValue wrapped_number = 30;
    google.protobuf.Struct object = 31;
    repeated google.protobuf.Timestamp times = 32;
    string long_field_name = 33;
    string renamed = 34 [json_name = "otherName"];
    google.protobuf.BytesValue wrapped_bytes = 35;
    google.protobuf.Value value = 36;
  }
)";

// Protobuf's parser needs one. Older versions call the first function, newer ones the second.
class FailureCollector : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& why) {
    RecordError(line, column, why);
  }
  void RecordError(int line, google::protobuf::io::ColumnNumber column, absl::string_view why) {
    ADD_FAILURE() << "test.proto:" << line << ":" << column << ": " << why;
  }
};

}  // namespace

TestService::TestService(const std::vector<std::string>& rules) : pool_(DescriptorPool::generated_pool()) {
  // So that the linker keeps what the file imports.
  for (const auto* imported : {google::api::HttpRule::descriptor(), google::protobuf::Struct::descriptor(),
                               google::protobuf::Duration::descriptor(), google::protobuf::FieldMask::descriptor(),
                               google::protobuf::Int64Value::descriptor()}) {
    EXPECT_NE(imported, nullptr);
  }
  std::string text = absl::StrCat(kMessages, "service S {\n");
  for (size_t i = 0; i < rules.size(); ++i) {
    absl::StrAppend(&text, "rpc M", i, "(Kinds) returns (Kinds) { option (google.api.http) = {", rules[i], "}; }\n");
  }
  text += "rpc WithoutRule(Kinds) returns (Kinds);\n";
  text += "}\n";
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  FailureCollector errors;
  google::protobuf::io::Tokenizer tokenizer(&input, &errors);
  google::protobuf::compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  google::protobuf::FileDescriptorProto file;
  file.set_name("test.proto");
  const bool parsed = parser.Parse(&tokenizer, &file);
  EXPECT_TRUE(parsed) << text;
  const bool built = parsed && pool_.BuildFile(file) != nullptr;
  EXPECT_TRUE(built) << text;
  factory_.SetDelegateToGeneratedFactory(true);
}

absl::StatusOr<std::unique_ptr<DescriptorTranscoder>> TestService::Make(const TranscodingOptions& options) {
  return DescriptorTranscoder::Make(pool_, factory_, {"test.S"}, options);
}

std::unique_ptr<Message> TestService::NewKinds() {
  return std::unique_ptr<Message>(factory_.GetPrototype(pool_.FindMessageTypeByName("test.Kinds"))->New());
}

std::unique_ptr<Message> FromText(const Message& like, const std::string& text) {
  std::unique_ptr<Message> message(like.New());
  const bool parsed = google::protobuf::TextFormat::ParseFromString(text, message.get());
  EXPECT_TRUE(parsed) << text;
  return message;
}

HttpRequest RequestOf(absl::string_view line) {
  HttpRequest request;
  request.method = line.substr(0, line.find(' '));
  line.remove_prefix(request.method.size() + 1);
  const absl::string_view target = line.substr(0, line.find(' '));
  if (target.size() < line.size()) request.body = line.substr(target.size() + 1);
  request.path = target.substr(0, target.find('?'));
  if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
  return request;
}

Outcome Transcode(const Transcoder& transcoder, absl::string_view line) {
  Outcome outcome;
  const HttpRequest request = RequestOf(line);
  Call call;
  const Found found = transcoder.Find(request, call);
  if (found != Found::kYes) {
    const HttpError error = transcoder.ErrorOf(found, request);
    outcome.refusal = absl::StrCat(error.http_status, error.allow.empty() ? "" : " ", error.allow);
    return outcome;
  }
  outcome.method = std::string(call.rpc->method->name());
  outcome.message.reset(call.rpc->request->New());
  outcome.status = transcoder.Bind(call, request, *outcome.message);
  return outcome;
}

}  // namespace cqbench::transcoding
