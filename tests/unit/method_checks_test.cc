// A method refuses the same responses as messages and as bytes. Otherwise a comparison of both would compare unequal
// work.
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/workload/methods/methods.h"
#include "tests/unit/byte_buffers.h"

namespace cqbench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

MessageConfig Asked() {
  MessageConfig config;
  config.request_bytes = 50;
  config.response_bytes = 100;
  config.stream_messages = 3;
  config.content = Content::kComplex;
  config.payload.kind = PayloadKind::kRandom;
  return config;
}

// Responds like our own servers.
template <Method M>
typename M::Response RightResponse(const MessageConfig& config) {
  typename M::Request request;
  M::Fill(request, config);
  typename M::Response response;
  if constexpr (Gathers<M>) {
    typename M::Gathered gathered;
    for (int i = 0; i < config.stream_messages; ++i) EXPECT_TRUE(M::Take(request, gathered).ok());
    EXPECT_TRUE(M::Respond(gathered, &response).ok());
  } else if constexpr (RespondsOften<M>) {
    EXPECT_TRUE(HandleNext<M>(request, /*left=*/0, &response).ok());
  } else {
    EXPECT_TRUE(M::Handle(request, &response).ok());
  }
  return response;
}

using Visit = std::function<void(const std::string& what)>;

void VisitWrongText(google::protobuf::Message& message, const FieldDescriptor& field, const Visit& visit) {
  const Reflection& fields = *message.GetReflection();
  const std::string right = fields.GetString(message, &field);
  const auto set = [&](std::string text, const char* what) {
    fields.SetString(&message, &field, std::move(text));
    visit(what);
  };
  set(right + "x", "longer");
  if (right.empty()) return;
  set(right.substr(1), "shorter");
  for (const size_t at : {size_t{0}, right.size() / 2, right.size() - 1}) {
    std::string text = right;
    text[at] = text[at] == 'a' ? 'b' : 'a';
    set(text, at == 0 ? "another beginning" : at == right.size() - 1 ? "another end" : "another middle");
  }
}

void SetAnotherNumber(google::protobuf::Message& message, const FieldDescriptor& field) {
  const Reflection& fields = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return fields.SetInt32(&message, &field, fields.GetInt32(message, &field) + 1);
    case FieldDescriptor::CPPTYPE_INT64:
      return fields.SetInt64(&message, &field, fields.GetInt64(message, &field) + 1);
    case FieldDescriptor::CPPTYPE_UINT32:
      return fields.SetUInt32(&message, &field, fields.GetUInt32(message, &field) + 1);
    case FieldDescriptor::CPPTYPE_UINT64:
      return fields.SetUInt64(&message, &field, fields.GetUInt64(message, &field) + 1);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fields.SetDouble(&message, &field, fields.GetDouble(message, &field) + 1);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return fields.SetFloat(&message, &field, fields.GetFloat(message, &field) + 1);
    case FieldDescriptor::CPPTYPE_BOOL:
      return fields.SetBool(&message, &field, !fields.GetBool(message, &field));
    default:
      FAIL() << "no number: " << std::string(field.full_name());
  }
}

// Calls visit() for each way in which one field of `part` may be wrong, and restores the field afterwards. `part` is
// `whole` or inside it.
void VisitWrong(google::protobuf::Message& whole, google::protobuf::Message& part, const Visit& visit) {
  const Reflection& fields = *part.GetReflection();
  const std::string right = whole.SerializeAsString();
  for (int i = 0; i < part.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *part.GetDescriptor()->field(i);
    const Visit say = [&](const std::string& what) { visit(std::string(field.full_name()) + ": " + what); };
    const std::string before = part.SerializeAsString();
    if (field.is_repeated()) {
      if (fields.FieldSize(part, &field) > 0) {
        fields.RemoveLast(&part, &field);
        say("one fewer");
      }
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (fields.HasField(part, &field)) VisitWrong(whole, *fields.MutableMessage(&part, &field), visit);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      VisitWrongText(part, field, say);
    } else {
      SetAnotherNumber(part, field);
      say("another number");
    }
    fields.ClearField(&part, &field);
    say("absent");
    ASSERT_TRUE(part.ParseFromString(before));
  }
  ASSERT_EQ(whole.SerializeAsString(), right);
}

template <Method M>
class OneMethod {
 public:
  // Returns how many wrong responses were refused.
  int Compare() {
    typename M::Response response = RightResponse<M>(config_);
    EXPECT_EQ(M::Check(response, config_), "");
    Compare(response.SerializeAsString(), "right");
    VisitWrong(response, response, [&](const std::string& what) { Compare(response.SerializeAsString(), what); });
    const std::string right = response.SerializeAsString();
    for (size_t size = 0; size < right.size(); ++size) Compare(right.substr(0, size), "cut off");
    for (const char* bad : {"\xff\xff\xff", "\x0f", "\x0a\x7f"}) {
      Compare(bad, "no message");
      Compare(right + bad, "no message at its end");
    }
    return refused_;
  }

 private:
  void Compare(const std::string& bytes, const std::string& what) {
    typename M::Response message;
    const bool refused = !message.ParseFromString(bytes) || !M::Check(message, config_).empty();
    refused_ += refused;
    for (const size_t slice : {size_t{5}, bytes.size() + 1}) {
      EXPECT_EQ(!M::CheckBytes(BufferOf(bytes, slice), config_).empty(), refused)
          << M::kWorkload << " " << M::kName << ": " << what << ", slices of " << slice;
    }
  }

  const MessageConfig config_ = Asked();
  int refused_ = 0;
};

TEST(MethodChecks, RefuseTheSameOfBytesAsOfMessages) {
  AllMethods::ForEach([]<typename M>() { EXPECT_GT(OneMethod<M>().Compare(), 0) << M::kWorkload << " " << M::kName; });
}

TEST(MethodsDeathTest, AnIdThatNoMethodHasEndsTheProcess) {
  const auto nothing = []<typename M>() {};
  for (const int id : {MethodInfo::kNotOurs, static_cast<int>(AllMethods::kCount)}) {
    EXPECT_DEATH(AllMethods::With(id, nothing), "there is no method with id");
  }
  for (const MethodInfo& info : AllMethodInfos()) {
    EXPECT_EQ(AllMethods::With(info.id, []<typename M>() { return std::string(M::kName); }), info.name);
  }
}

}  // namespace
}  // namespace cqbench
