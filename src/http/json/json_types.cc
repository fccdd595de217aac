#include "src/http/json/json_types.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/http/json/json_text.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// A map's is that of its values.
bool IsOther(const FieldDescriptor& field) {
  if (field.is_map()) return IsOther(*field.message_type()->map_value());
  if (field.enum_type() != nullptr) return field.enum_type()->full_name() == kNullValue;
  return field.message_type() != nullptr && FormOf(*field.message_type()) == JsonForm::kOther;
}

std::string LabelOf(const FieldDescriptor& field, bool proto_name) {
  std::string label;
  AppendJsonString(proto_name ? absl::string_view(field.name()) : absl::string_view(field.json_name()), label);
  return label + ":";
}

}  // namespace

JsonForm FormOf(const Descriptor& type) {
  switch (type.well_known_type()) {
    case Descriptor::WELLKNOWNTYPE_UNSPECIFIED:
      return JsonForm::kFields;
    case Descriptor::WELLKNOWNTYPE_TIMESTAMP:
      return JsonForm::kTimestamp;
    case Descriptor::WELLKNOWNTYPE_DURATION:
      return JsonForm::kDuration;
    case Descriptor::WELLKNOWNTYPE_FIELDMASK:
      return JsonForm::kFieldMask;
    case Descriptor::WELLKNOWNTYPE_ANY:
    case Descriptor::WELLKNOWNTYPE_STRUCT:
    case Descriptor::WELLKNOWNTYPE_VALUE:
    case Descriptor::WELLKNOWNTYPE_LISTVALUE:
      return JsonForm::kOther;
    default:
      return JsonForm::kWrapper;
  }
}

const JsonType& JsonTypes::Add(const Descriptor& descriptor) {
  const auto [place, is_new] = types_.try_emplace(&descriptor);
  if (!is_new) return *place->second;
  place->second = std::make_unique<JsonType>();
  JsonType& type = *place->second;  // `place` is gone when other types are added
  type.descriptor = &descriptor;
  type.form = FormOf(descriptor);
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    const JsonType* inside = field.message_type() != nullptr ? &Add(*field.message_type()) : nullptr;
    type.fields.push_back({&field, inside, LabelOf(field, proto_names_), IsOther(field)});
  }
  std::sort(type.fields.begin(), type.fields.end(), [](const JsonField& left, const JsonField& right) {
    return left.descriptor->number() < right.descriptor->number();
  });
  // A name of the .proto goes before another field's name in JSON.
  for (const JsonField& field : type.fields) type.by_name.try_emplace(field.descriptor->name(), &field);
  for (const JsonField& field : type.fields) type.by_name.try_emplace(field.descriptor->json_name(), &field);
  return type;
}

const JsonType* JsonTypes::Find(const Descriptor& type) const {
  const auto found = types_.find(&type);
  return found == types_.end() ? nullptr : found->second.get();
}

}  // namespace cqbench::transcoding
