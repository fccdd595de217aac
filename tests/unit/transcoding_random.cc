#include "tests/unit/transcoding_random.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>
#include <string>

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// An object with its fields in JSON.
bool IsPlain(const Descriptor& type) {
  return type.well_known_type() == Descriptor::WELLKNOWNTYPE_UNSPECIFIED;
}

template <typename Int>
Int RandomInteger(Random& random) {
  using Limits = std::numeric_limits<Int>;
  const Int kEdges[] = {0, 1, Limits::min(), Limits::max(), static_cast<Int>(-1), 100};
  const uint64_t which = Below(random, 2 * std::size(kEdges));
  return which < std::size(kEdges) ? kEdges[which] : static_cast<Int>(random());
}

// From any bits, so that most have as many digits as there are; and those that are none. -0 is not among them:
// protobuf 3.21 prints -0 and reads it as an integer.
template <typename Float, typename Bits>
Float RandomFloat(Random& random) {
  using Limits = std::numeric_limits<Float>;
  const Float kEdges[] = {0,
                          1,
                          -1.5,
                          Float{1} / 3,
                          static_cast<Float>(1e15),
                          static_cast<Float>(1e22),
                          Limits::max(),
                          Limits::lowest(),
                          Limits::min(),
                          Limits::denorm_min(),
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::quiet_NaN()};
  const uint64_t which = Below(random, 2 * std::size(kEdges));
  if (which < std::size(kEdges)) return kEdges[which];
  const Bits bits = static_cast<Bits>(random());
  Float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value == value ? value : Limits::quiet_NaN();  // the one that NaN is read as
}

std::string RandomBytes(Random& random) {
  std::string bytes;
  for (uint64_t n = Below(random, 12); n > 0; --n) bytes.push_back(static_cast<char>(random()));
  return bytes;
}

class Filler {
 public:
  Filler(Random& random, Message& message) : random_(random), message_(message), to_(*message.GetReflection()) {}

  void Fill(int depth) {
    const Descriptor& type = *message_.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const auto* oneof = field.real_containing_oneof();
      if (Below(random_, 3) != 0 || (oneof != nullptr && to_.HasOneof(message_, oneof))) continue;
      if (depth == 0 && field.message_type() != nullptr && IsPlain(*field.message_type())) continue;
      if (field.is_map()) {
        FillMap(field, depth);
      } else {
        for (uint64_t n = field.is_repeated() ? Below(random_, 4) : 1; n > 0; --n) Set(field, depth);
      }
    }
  }

  // Sets a single field or adds to a repeated one.
  void Set(const FieldDescriptor& field, int depth) {
    const bool add = field.is_repeated();
    const auto store = [&](auto set_function, auto add_function, auto value) {
      (to_.*(add ? add_function : set_function))(&message_, &field, value);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return store(&Reflection::SetInt32, &Reflection::AddInt32, RandomInteger<int32_t>(random_));
      case FieldDescriptor::CPPTYPE_INT64:
        return store(&Reflection::SetInt64, &Reflection::AddInt64, RandomInteger<int64_t>(random_));
      case FieldDescriptor::CPPTYPE_UINT32:
        return store(&Reflection::SetUInt32, &Reflection::AddUInt32, RandomInteger<uint32_t>(random_));
      case FieldDescriptor::CPPTYPE_UINT64:
        return store(&Reflection::SetUInt64, &Reflection::AddUInt64, RandomInteger<uint64_t>(random_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return store(&Reflection::SetFloat, &Reflection::AddFloat, RandomFloat<float, uint32_t>(random_));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return store(&Reflection::SetDouble, &Reflection::AddDouble, RandomFloat<double, uint64_t>(random_));
      case FieldDescriptor::CPPTYPE_BOOL:
        return store(&Reflection::SetBool, &Reflection::AddBool, Below(random_, 2) == 0);
      case FieldDescriptor::CPPTYPE_ENUM:
        return SetEnum(field);
      case FieldDescriptor::CPPTYPE_STRING:
        return SetText(field,
                       field.type() == FieldDescriptor::TYPE_BYTES ? RandomBytes(random_) : RandomText(random_, 20));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return FillMessage(depth, add ? *to_.AddMessage(&message_, &field) : *to_.MutableMessage(&message_, &field));
    }
  }

 private:
  void SetEnum(const FieldDescriptor& field) {
    const auto& type = *field.enum_type();
    const bool other = type.full_name() != "google.protobuf.NullValue" && Below(random_, 4) == 0;
    const int number = other ? RandomInteger<int32_t>(random_)
                             : type.value(static_cast<int>(Below(random_, type.value_count())))->number();
    if (field.is_repeated()) {
      to_.AddEnumValue(&message_, &field, number);
    } else {
      to_.SetEnumValue(&message_, &field, number);
    }
  }

  void SetText(const FieldDescriptor& field, const std::string& text) {
    if (field.is_repeated()) {
      to_.AddString(&message_, &field, text);
    } else {
      to_.SetString(&message_, &field, text);
    }
  }

  // Keys are different ones: a map does not say which of two it keeps.
  void FillMap(const FieldDescriptor& field, int depth) {
    const FieldDescriptor& key = *field.message_type()->map_key();
    std::set<std::string> keys;
    for (uint64_t n = Below(random_, 4); n > 0; --n) {
      Message& entry = *to_.AddMessage(&message_, &field);
      Filler filler(random_, entry);
      filler.Set(key, 0);
      if (!keys.insert(entry.SerializeAsString()).second) {
        to_.RemoveLast(&message_, &field);
        continue;
      }
      filler.Set(*field.message_type()->map_value(), depth);
    }
  }

  void FillMessage(int depth, Message& message) {
    Filler inside(random_, message);
    switch (message.GetDescriptor()->well_known_type()) {
      case Descriptor::WELLKNOWNTYPE_UNSPECIFIED:
        if (depth > 0) inside.Fill(depth - 1);
        return;
      case Descriptor::WELLKNOWNTYPE_TIMESTAMP:
        return inside.SetTime(static_cast<int64_t>(Below(random_, 315'537'897'600)) - 62'135'596'800, 1);
      case Descriptor::WELLKNOWNTYPE_DURATION:
        return inside.SetDuration();
      case Descriptor::WELLKNOWNTYPE_FIELDMASK:
        return inside.SetMask();
      case Descriptor::WELLKNOWNTYPE_ANY:
        return inside.SetAny();
      case Descriptor::WELLKNOWNTYPE_STRUCT:
      case Descriptor::WELLKNOWNTYPE_VALUE:
      case Descriptor::WELLKNOWNTYPE_LISTVALUE:
        return inside.SetValue();
      default:
        return inside.Set(*message.GetDescriptor()->FindFieldByNumber(1), 0);
    }
  }

  void SetTime(int64_t seconds, int sign) {
    const Descriptor& type = *message_.GetDescriptor();
    const int kUnits[] = {1'000'000'000, 1'000'000, 1'000, 1};
    const int unit = kUnits[Below(random_, 4)];
    const auto nanos = static_cast<int>(Below(random_, static_cast<uint64_t>(1'000'000'000 / unit))) * unit;
    to_.SetInt64(&message_, type.FindFieldByNumber(1), seconds);
    to_.SetInt32(&message_, type.FindFieldByNumber(2), sign * nanos);
  }

  void SetDuration() {
    const int sign = Below(random_, 2) == 0 ? 1 : -1;
    SetTime(sign * static_cast<int64_t>(Below(random_, Below(random_, 2) == 0 ? 2 : 315'576'000'000)), sign);
  }

  void SetMask() {
    const char* const kPaths[] = {"a", "long_field_name", "f_every.f_int32", "x1.y2_z"};
    for (uint64_t n = Below(random_, 3); n > 0; --n) {
      SetText(*message_.GetDescriptor()->FindFieldByNumber(1), kPaths[Below(random_, 4)]);
    }
  }

  void SetAny() {
    const Descriptor& type = *message_.GetDescriptor();
    to_.SetString(&message_, type.FindFieldByNumber(1), "type.googleapis.com/cqbench.library.v1.Book");
    to_.SetString(&message_, type.FindFieldByNumber(2), "\x0a\x01x\x28\x05");
  }

  // One of each kind inside of whatever of the three it is.
  void SetValue() {
    google::protobuf::Value value;
    auto& fields = *value.mutable_struct_value()->mutable_fields();
    fields["text"].set_string_value(RandomText(random_, 5));
    fields["number"].set_number_value(static_cast<double>(Below(random_, 100)) / 8);
    fields["null"].set_null_value(google::protobuf::NULL_VALUE);
    fields["list"].mutable_list_value()->add_values()->set_bool_value(true);
    const Descriptor::WellKnownType type = message_.GetDescriptor()->well_known_type();
    std::string bytes = fields[Below(random_, 2) == 0 ? "text" : "null"].SerializeAsString();
    if (type == Descriptor::WELLKNOWNTYPE_LISTVALUE) {
      bytes = fields["list"].list_value().SerializeAsString();
    } else if (type == Descriptor::WELLKNOWNTYPE_STRUCT) {
      bytes = value.struct_value().SerializeAsString();
    } else if (Below(random_, 2) == 0) {
      bytes = value.SerializeAsString();
    }
    if (!message_.ParseFromString(bytes)) std::abort();
  }

  Random& random_;
  Message& message_;
  const Reflection& to_;
};

}  // namespace

void FillEverything(Random& random, int depth, Message& message) {
  Filler(random, message).Fill(depth);
}

}  // namespace cqbench::transcoding
