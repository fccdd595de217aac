#include "src/http/routes/query.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/http/json/field_value.h"
#include "src/http/json/percent.h"
#include "src/http/json/shown.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Messages inside of messages that a parameter may make: as with JSON, so that nobody has to take the result apart who
// cannot (protobuf itself reads 100).
constexpr size_t kMaxDepth = 32;

class Binder {
 public:
  Binder(const Binding& binding, const NamedFields& fields, Message& request)
      : binding_(binding), fields_(fields), request_(request) {}

  absl::Status Bind(absl::string_view key, absl::string_view value) {
    if (Resolve(key)) {
      if (IsOfPath()) return absl::OkStatus();
      if (binding_.body != Binding::Body::kAll && path_.front() != binding_.body_field) return Set(key, value);
    }
    return UnknownParameter(key, *binding_.method);
  }

 private:
  // False: the message has none of that name. Otherwise path_ has its fields.
  bool Resolve(absl::string_view key) {
    path_.clear();
    const NamedFields* in = &fields_;
    for (;;) {
      const size_t dot = std::min(key.find('.'), key.size());
      if (in == nullptr || path_.size() == kMaxDepth) return false;
      const auto found = in->by_name.find(key.substr(0, dot));
      if (found == in->by_name.end()) return false;
      path_.push_back(found->second.descriptor);
      if (dot == key.size()) return found->second.has_text_form;
      in = found->second.inside;
      key.remove_prefix(dot + 1);
    }
  }

  bool IsOfPath() const {
    return std::any_of(binding_.variables.begin(), binding_.variables.end(), [&](const FieldPath& variable) {
      return std::equal(variable.begin(), variable.end(), path_.begin(), path_.end());
    });
  }

  absl::Status Set(absl::string_view key, absl::string_view value) {
    Message* owner = &request_;
    for (size_t i = 0; i + 1 < path_.size(); ++i) {
      if (absl::Status status = CheckOneof(key, *owner, *path_[i]); !status.ok()) return status;
      owner = owner->GetReflection()->MutableMessage(owner, path_[i]);
    }
    const FieldDescriptor& field = *path_.back();
    if (absl::Status status = CheckOneof(key, *owner, field); !status.ok()) return status;
    if (!field.is_repeated()) {
      const std::pair<const Message*, const FieldDescriptor*> place(owner, &field);
      if (std::find(set_.begin(), set_.end(), place) != set_.end()) return BadParameter(key, "it is there twice");
      set_.push_back(place);
    }
    if (absl::Status status = SetFromText(value, field, *owner); !status.ok())
      return BadParameter(key, status.message());
    return absl::OkStatus();
  }

  static absl::Status CheckOneof(absl::string_view key, const Message& owner, const FieldDescriptor& field) {
    const auto* oneof = field.containing_oneof();
    if (oneof == nullptr) return absl::OkStatus();
    const FieldDescriptor* other = owner.GetReflection()->GetOneofFieldDescriptor(owner, oneof);
    if (other == nullptr || other == &field) return absl::OkStatus();
    return BadParameter(key, absl::StrCat(std::string(other->name()), " of the same oneof is set already"));
  }

  const Binding& binding_;
  const NamedFields& fields_;
  Message& request_;
  absl::InlinedVector<const FieldDescriptor*, 8> path_;
  absl::InlinedVector<std::pair<const Message*, const FieldDescriptor*>, 8> set_;  // single fields that were set
};

}  // namespace

const NamedFields& NamedTypes::Of(const Descriptor& type) {
  const auto [place, is_new] = types_.try_emplace(&type);
  if (!is_new) return *place->second;
  place->second = std::make_unique<NamedFields>();
  NamedFields& fields = *place->second;  // `place` is gone when other types are added
  const auto add = [&](absl::string_view name, const FieldDescriptor& field) {
    const bool has_fields = field.message_type() != nullptr && !field.is_repeated();
    const NamedFields* inside = has_fields ? &Of(*field.message_type()) : nullptr;
    fields.by_name.try_emplace(name, NamedFields::Field{&field, inside, HasTextForm(field)});
  };
  // A name of the .proto goes before another field's name in JSON.
  for (int i = 0; i < type.field_count(); ++i) add(type.field(i)->name(), *type.field(i));
  for (int i = 0; i < type.field_count(); ++i) add(type.field(i)->json_name(), *type.field(i));
  return fields;
}

absl::Status BadParameter(absl::string_view key, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("query parameter '", Shown(key), "': ", why));
}

absl::Status UnknownParameter(absl::string_view key, const google::protobuf::MethodDescriptor& method) {
  return BadParameter(key, absl::StrCat("there is none for ", std::string(method.full_name())));
}

absl::Status ForEachParameter(absl::string_view query,
                              absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)> take) {
  std::string key_buffer;
  std::string value_buffer;
  while (!query.empty()) {
    const absl::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    absl::string_view key;
    absl::string_view value;
    if (!PercentDecode(pair.substr(0, equals), Slashes::kDecode, key_buffer, key) ||
        !PercentDecode(pair.substr(std::min(equals + 1, pair.size())), Slashes::kDecode, value_buffer, value)) {
      return BadParameter(pair.substr(0, equals), "'%' is not followed by two hexadecimal digits");
    }
    if (absl::Status status = take(key, value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status BindQuery(absl::string_view query, const Binding& binding, const NamedFields& fields, Message& request) {
  Binder binder(binding, fields, request);
  return ForEachParameter(query,
                          [&](absl::string_view key, absl::string_view value) { return binder.Bind(key, value); });
}

}  // namespace cqbench::transcoding
