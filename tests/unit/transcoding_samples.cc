#include "tests/unit/transcoding_samples.h"

#include <google/api/annotations.pb.h>
#include <google/protobuf/any.pb.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/empty.pb.h>
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
  import "google/protobuf/any.proto";
  import "google/protobuf/duration.proto";
  import "google/protobuf/empty.proto";
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
  message Every {
    double f_double = 1;
    float f_float = 2;
    int32 f_int32 = 3;
    int64 f_int64 = 4;
    uint32 f_uint32 = 5;
    uint64 f_uint64 = 6;
    sint32 f_sint32 = 7;
    sint64 f_sint64 = 8;
    fixed32 f_fixed32 = 9;
    fixed64 f_fixed64 = 10;
    sfixed32 f_sfixed32 = 11;
    sfixed64 f_sfixed64 = 12;
    bool f_bool = 13;
    string f_string = 14;
    bytes f_bytes = 15;
    Color f_color = 16;
    Every f_every = 17;
    google.protobuf.Empty f_empty = 18;
    optional double o_double = 21;
    optional int64 o_int64 = 22;
    optional bool o_bool = 23;
    optional string o_string = 24;
    optional bytes o_bytes = 25;
    optional Color o_color = 26;
    repeated double r_double = 41;
    repeated float r_float = 42;
    repeated int32 r_int32 = 43;
    repeated int64 r_int64 = 44;
    repeated uint32 r_uint32 = 45;
    repeated uint64 r_uint64 = 46;
    repeated bool r_bool = 47;
    repeated string r_string = 48;
    repeated bytes r_bytes = 49;
    repeated Color r_color = 50;
    repeated Every r_every = 51;
    repeated google.protobuf.Timestamp r_time = 52;
    repeated google.protobuf.Duration r_duration = 53;
    repeated google.protobuf.FieldMask r_mask = 54;
    repeated google.protobuf.Int32Value r_wrapped = 55;
    repeated google.protobuf.Struct r_object = 56;
    map<string, string> m_string = 61;
    map<int32, double> m_int32 = 62;
    map<int64, bytes> m_int64 = 63;
    map<uint32, bool> m_uint32 = 64;
    map<uint64, Color> m_uint64 = 65;
    map<bool, Every> m_bool = 66;
    map<sfixed64, google.protobuf.Timestamp> m_time = 67;
    map<string, google.protobuf.StringValue> m_wrapped = 68;
    map<string, google.protobuf.Value> m_value = 69;
    oneof choice {
      int32 c_int32 = 71;
      string c_string = 72;
      Every c_every = 73;
      google.protobuf.Duration c_duration = 74;
      google.protobuf.Int64Value c_wrapped = 75;
      Color c_color = 76;
    }
    google.protobuf.Timestamp w_time = 81;
    google.protobuf.Duration w_duration = 82;
    google.protobuf.FieldMask w_mask = 83;
    google.protobuf.DoubleValue w_double = 84;
    google.protobuf.FloatValue w_float = 85;
    google.protobuf.Int64Value w_int64 = 86;
    google.protobuf.UInt64Value w_uint64 = 87;
    google.protobuf.Int32Value w_int32 = 88;
    google.protobuf.UInt32Value w_uint32 = 89;
    google.protobuf.BoolValue w_bool = 90;
    google.protobuf.StringValue w_string = 91;
    google.protobuf.BytesValue w_bytes = 92;
    google.protobuf.Any w_any = 93;
    google.protobuf.Struct w_object = 94;
    google.protobuf.Value w_value = 95;
    google.protobuf.ListValue w_list = 96;
    google.protobuf.NullValue w_null = 97;
    int32 name_of_its_own = 98 [json_name = "quoted\"name"];
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
  // A reference makes the linker keep the imported files.
  for (const auto* imported : {google::api::HttpRule::descriptor(), google::protobuf::Struct::descriptor(),
                               google::protobuf::Any::descriptor(), google::protobuf::Empty::descriptor(),
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

std::unique_ptr<Message> TestService::New(const std::string& type) {
  return std::unique_ptr<Message>(factory_.GetPrototype(pool_.FindMessageTypeByName(type))->New());
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
    outcome.refusal = absl::StrCat(error.http_status, error.header_value.empty() ? "" : " ", error.header_value);
    return outcome;
  }
  outcome.method = std::string(call.rpc->method->name());
  outcome.message.reset(call.rpc->request->New());
  outcome.status = transcoder.Bind(call, request, *outcome.message);
  return outcome;
}

}  // namespace cqbench::transcoding
