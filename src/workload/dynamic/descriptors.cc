#include "src/workload/dynamic/descriptors.h"

#include <google/protobuf/compiler/importer.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "src/base/clean_text.h"
#include "src/base/files.h"

namespace cqbench {
namespace {

namespace pb = google::protobuf;

constexpr size_t kMaxNames = 40;
constexpr absl::string_view kWellKnown[] = {"any",   "api",        "descriptor",    "duration",
                                            "empty", "field_mask", "struct",        "timestamp",
                                            "type",  "wrappers",   "source_context"};

// Every .proto may import these without bringing them.
void AddWellKnown(const std::set<std::string>& except, pb::SimpleDescriptorDatabase& database) {
  for (absl::string_view name : kWellKnown) {
    const std::string path = absl::StrCat("google/protobuf/", name, ".proto");
    const pb::FileDescriptor* file = pb::DescriptorPool::generated_pool()->FindFileByName(path);
    if (file == nullptr || except.count(path) > 0) continue;
    pb::FileDescriptorProto proto;
    file->CopyTo(&proto);
    database.Add(proto);
  }
}

// The first error of a parser. The base class's functions have other names from protobuf 22 on, so neither says
// override.
class ParseErrors : public pb::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int /*column*/, const std::string& message) {
    Keep(file, line, message);
  }
  void RecordError(absl::string_view file, int line, int /*column*/, absl::string_view message) {
    Keep(file, line, message);
  }
  const std::string& first() const { return first_; }

 private:
  void Keep(absl::string_view file, int line, absl::string_view message) {
    if (!first_.empty()) return;
    first_ = line < 0 ? absl::StrCat(file, ": ", message) : absl::StrCat(file, ":", line + 1, ": ", message);
  }
  std::string first_;
};

// The file and all that it imports.
void Gather(const pb::FileDescriptor& file, std::set<std::string>& seen, Descriptors::Files& into) {
  if (!seen.insert(std::string(file.name())).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) Gather(*file.dependency(i), seen, into);
  file.CopyTo(&into.emplace_back());
}

}  // namespace

absl::StatusOr<MethodName> ParseMethodName(absl::string_view text) {
  const absl::string_view path = absl::StripPrefix(text, "/");
  size_t end = path.find('/');
  if (end == absl::string_view::npos) end = path.rfind('.');
  if (end == absl::string_view::npos || end == 0 || end + 1 == path.size() ||
      path.find('/', end + 1) != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not package.Service/Method"));
  }
  return MethodName{std::string(path.substr(0, end)), std::string(path.substr(end + 1))};
}

std::string ListNames(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxNames);
  std::string list = absl::StrJoin(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", ");
  if (names.size() > shown) absl::StrAppend(&list, " and ", names.size() - shown, " more");
  return list;
}

absl::Status NoSuchService(const std::string& service, const std::vector<std::string>& there_are) {
  return absl::NotFoundError(there_are.empty()
                                 ? absl::StrCat("no service ", service, ": there are none at all")
                                 : absl::StrCat("no service ", service, "; there are: ", ListNames(there_are)));
}

// The first error of the pool. See ParseErrors.
class Descriptors::Errors : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message* /*descriptor*/,
                ErrorLocation /*location*/, const std::string& message) {
    Keep(file, element, message);
  }
  void RecordError(absl::string_view file, absl::string_view element, const pb::Message* /*descriptor*/,
                   ErrorLocation /*location*/, absl::string_view message) {
    Keep(file, element, message);
  }
  const std::string& first() const { return first_; }

 private:
  void Keep(absl::string_view file, absl::string_view element, absl::string_view message) {
    if (first_.empty()) first_ = absl::StrCat(file, ": ", element, ": ", message);
  }
  std::string first_;
};

absl::StatusOr<std::shared_ptr<const Descriptors>> Descriptors::FromProto(
    const std::string& path, const std::vector<std::string>& import_paths) {
  if (const auto readable = ReadFile(path, kMaxDescriptorBytes); !readable.ok()) return readable.status();
  pb::compiler::DiskSourceTree tree;
  for (const std::string& directory : import_paths) tree.MapPath("", directory);
  tree.MapPath("", ".");
  const size_t slash = path.rfind('/');
  const std::string own = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  tree.MapPath("", own);
  std::string name, shadowing;
  using Tree = pb::compiler::DiskSourceTree;
  if (tree.DiskFileToVirtualFile(path, &name, &shadowing) != Tree::SUCCESS) {
    // Under its own directory its name is the last part; another of that name would be read instead.
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' ", shadowing.empty() ? "is not below an import path" : "is hidden by ", shadowing));
  }
  pb::SimpleDescriptorDatabase well_known;
  AddWellKnown({}, well_known);
  ParseErrors errors;
  pb::compiler::SourceTreeDescriptorDatabase database(&tree, &well_known);
  database.RecordErrorsTo(&errors);
  const pb::DescriptorPool pool(&database, database.GetValidationErrorCollector());
  const pb::FileDescriptor* const file = pool.FindFileByName(name);
  if (file == nullptr) {
    return absl::InvalidArgumentError(errors.first().empty() ? absl::StrCat("cannot read '", path, "'")
                                                             : errors.first());
  }
  std::set<std::string> seen;
  Files files;
  Gather(*file, seen, files);
  return FromFiles(files);
}

absl::StatusOr<std::shared_ptr<const Descriptors>> Descriptors::FromProtoset(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxDescriptorBytes);
  if (!bytes.ok()) return bytes.status();
  pb::FileDescriptorSet set;
  if (!set.ParseFromString(*bytes) || set.file_size() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' is no set of descriptors, as protoc --descriptor_set_out writes it"));
  }
  return FromFiles(Files(set.file().begin(), set.file().end()));
}

absl::StatusOr<std::shared_ptr<const Descriptors>> Descriptors::FromFiles(const Files& files) {
  const std::shared_ptr<Descriptors> all(new Descriptors(files));
  for (const pb::FileDescriptorProto& proto : files) {
    const pb::FileDescriptor* const file = all->pool_->FindFileByName(proto.name());
    if (file == nullptr) {
      std::string why = all->errors_->first();
      if (why.empty()) why = absl::StrCat(proto.name(), ": not complete");
      return absl::InvalidArgumentError(
          absl::StrCat("descriptors that cannot be used: ", CleanText(why, kMaxErrorBytes)));
    }
    for (int i = 0; i < file->service_count(); ++i) all->services_.push_back(file->service(i));
  }
  return all;
}

Descriptors::Descriptors(const Files& files) : errors_(std::make_unique<Errors>()) {
  std::set<std::string> names;
  for (const pb::FileDescriptorProto& file : files) {
    if (names.insert(file.name()).second) database_.Add(file);
  }
  AddWellKnown(names, database_);
  pool_ = std::make_unique<pb::DescriptorPool>(&database_, errors_.get());
}

absl::StatusOr<const pb::MethodDescriptor*> Descriptors::Find(const MethodName& name) const {
  std::vector<std::string> names;
  for (const pb::ServiceDescriptor* service : services_) {
    names.emplace_back(service->full_name());
    if (service->full_name() != name.service) continue;
    if (const pb::MethodDescriptor* method = service->FindMethodByName(name.method)) return method;
    std::vector<std::string> methods;
    for (int i = 0; i < service->method_count(); ++i) methods.emplace_back(service->method(i)->name());
    return absl::NotFoundError(
        absl::StrCat("no method ", name.method, " in ", name.service, "; it has: ", ListNames(methods)));
  }
  return NoSuchService(name.service, names);
}

const pb::Message& Descriptors::Prototype(const pb::Descriptor* type) const {
  return *factory_.GetPrototype(type);
}

}  // namespace cqbench
