#include "src/http/routes/field_path.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cqbench::transcoding {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::StatusOr<FieldPath> FindFieldPath(const Descriptor& message, absl::string_view names) {
  FieldPath path;
  const Descriptor* in = &message;
  for (const absl::string_view name : absl::StrSplit(names, '.')) {
    if (in == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(std::string(path.back()->full_name()), " is no single message, so it has no field ", name));
    }
    const FieldDescriptor* field = in->FindFieldByName(std::string(name));
    if (field == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(std::string(in->full_name()), " has no field '", name, "'"));
    }
    path.push_back(field);
    in = field->is_repeated() ? nullptr : field->message_type();
  }
  return path;
}

Message& OwnerOf(const FieldPath& path, Message& message) {
  Message* owner = &message;
  for (size_t i = 0; i + 1 < path.size(); ++i) owner = owner->GetReflection()->MutableMessage(owner, path[i]);
  return *owner;
}

}  // namespace cqbench::transcoding
